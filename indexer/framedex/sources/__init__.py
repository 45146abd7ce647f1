"""Sources: the definitions and calls in source files, and which of them a symbol stands for."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.sources.extraction import extract_files, learn_macros, processors
    from framedex.sources.files import find_files, language_of
    from framedex.sources.locate import likely_to_define
    from framedex.sources.matching import generated_scopes, match, match_generated
    from framedex.sources.names import short_name
    from framedex.sources.parse import parse_file
    from framedex.sources.sites import call_sites

__all__ = [
    "call_sites",
    "extract_files",
    "find_files",
    "generated_scopes",
    "language_of",
    "learn_macros",
    "likely_to_define",
    "match",
    "match_generated",
    "parse_file",
    "processors",
    "short_name",
]

__getattr__ = exports(
    __name__,
    {
        "extraction": ("extract_files", "learn_macros", "processors"),
        "files": ("find_files", "language_of"),
        "locate": ("likely_to_define",),
        "matching": ("generated_scopes", "match", "match_generated"),
        "names": ("short_name",),
        "parse": ("parse_file",),
        "sites": ("call_sites",),
    },
)
