"""Sources: definitions and calls in source files, the definition of each symbol, and where sources come from.

Start at:
- `matching.py`, then `types.py`: the definition of a symbol
- `frame_lines.py`, then `call_lines.py`, `call_order.py` and `bodies.py`: the line of a frame in its function
- `call_ranges.py`: the range of lines of a frame whose line is not known
- `calls.py`, then `implicit.py`: the calls in a function's text, and their lines by compiler
- `call_targets.py`: the possible definitions of a written call
- `file_versions.py`, then `line_maps.py`: the current line of a recorded line
- `python_syntax.py`: loops of a Python file
- `releases/`: the release and commit of a recorded binary; `fetching/` downloads its sources
- `release_maps/` and `source_map.py`: definitions and calls of a release without its sources

docs/reference/labels.md explains each label. Parsers never raise: they return the readable part and a list of problems.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.sources.extraction import count_processors, extract_files, find_macros, parse_file
    from framedex.sources.files import find_files, find_language
    from framedex.sources.matching import iterate_generated_scopes, match_generating_definition, match_symbol
    from framedex.sources.names import find_likely_files, short_name

__all__ = [
    "count_processors",
    "extract_files",
    "find_files",
    "find_language",
    "find_likely_files",
    "find_macros",
    "iterate_generated_scopes",
    "match_generating_definition",
    "match_symbol",
    "parse_file",
    "short_name",
]

__getattr__ = export_lazily(
    __name__,
    {
        "extraction": ("extract_files", "find_macros", "parse_file", "count_processors"),
        "files": ("find_files", "find_language"),
        "matching": ("iterate_generated_scopes", "match_symbol", "match_generating_definition"),
        "names": ("find_likely_files", "short_name"),
    },
)
