"""Compiled programs: the source lines of their ops, signatures, options, and JAX's notes.

Start at `bytecode.py` (lines of ops), then `signature.py`, `notes.py` and `options.py`.
`native/recorder/kept_files.h` stores the programs.
"""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.programs.notes import read_note
    from framedex.programs.options import read_options
    from framedex.programs.reading import read_program

__all__ = ["read_note", "read_options", "read_program"]

__getattr__ = exports(__name__, {"notes": ("read_note",), "options": ("read_options",), "reading": ("read_program",)})
