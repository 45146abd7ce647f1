"""Sources: the definitions and calls in source files, and which of them a symbol stands for."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.sources.extraction import extract_files, learn_macros, processors
    from framedex.sources.files import FoundFile, find_files, found_file, language_of
    from framedex.sources.locate import TreeFiles
    from framedex.sources.matching import generated_scopes, match, match_generated
    from framedex.sources.names import short_name
    from framedex.sources.parse import parse_file
    from framedex.sources.pathmap import BUILD_FOLDER, Here, PathMap, files_below, find_here
    from framedex.sources.sites import call_sites

__all__ = [
    "BUILD_FOLDER",
    "FoundFile",
    "Here",
    "PathMap",
    "TreeFiles",
    "call_sites",
    "extract_files",
    "files_below",
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

__getattr__ = exports(
    __name__,
    {
        "extraction": ("extract_files", "learn_macros", "processors"),
        "files": ("FoundFile", "find_files", "found_file", "language_of"),
        "locate": ("TreeFiles",),
        "matching": ("generated_scopes", "match", "match_generated"),
        "names": ("short_name",),
        "parse": ("parse_file",),
        "pathmap": ("BUILD_FOLDER", "Here", "PathMap", "files_below", "find_here"),
        "sites": ("call_sites",),
    },
)
