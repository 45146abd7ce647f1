"""Sources: the definitions and calls in source files, and which of them a symbol stands for."""

from framedex.sources.extraction import extract_files, learn_macros, processors
from framedex.sources.files import FoundFile, find_files, found_file, language_of
from framedex.sources.locate import TreeFiles
from framedex.sources.match import generated_scopes, match, match_generated
from framedex.sources.names import short_name
from framedex.sources.parse import call_sites, parse_file
from framedex.sources.pathmap import BUILD_FOLDER, Here, PathMap, find_here

__all__ = [
    "BUILD_FOLDER",
    "FoundFile",
    "Here",
    "PathMap",
    "TreeFiles",
    "call_sites",
    "extract_files",
    "find_files",
    "find_here",
    "found_file",
    "generated_scopes",
    "language_of",
    "learn_macros",
    "match",
    "match_generated",
    "parse_file",
    "processors",
    "short_name",
]
