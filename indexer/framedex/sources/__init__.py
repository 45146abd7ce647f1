"""Sources: the definitions in C++ and Python files, and which of them a symbol stands for."""

from framedex.sources.files import find_files
from framedex.sources.match import generated_scopes, match, match_generated
from framedex.sources.names import short_name
from framedex.sources.parse import parse_file

__all__ = ["find_files", "generated_scopes", "match", "match_generated", "parse_file", "short_name"]
