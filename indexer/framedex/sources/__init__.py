"""Sources: definitions and calls in source files, and the definition of each symbol.

Start at:
- `matching.py`, then `types.py`: the definition of a symbol
- `standing.py`, then `callline.py`, `callorder.py`, `alignment.py`: the line of a frame in its function
- `calls.py`, then `implicit.py` and `gcclines.py`: the calls in a function's text, and their lines by compiler
- `meant.py`: the possible definitions of a written call
- `changes.py`, then `moving.py`: the current line of a recorded line
- `python_loops.py`: loops of a Python file

docs/reference/labels.md explains each label. Parsers never raise: they return the readable part and a list of problems.
"""

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
