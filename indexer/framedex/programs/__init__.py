"""Compiled programs as they were given to the runtime: which lines their ops come from, and what else is known."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.programs.notes import read_note
    from framedex.programs.options import read_options
    from framedex.programs.reading import read_program

__all__ = ["read_note", "read_options", "read_program"]

__getattr__ = exports(__name__, {"notes": ("read_note",), "options": ("read_options",), "reading": ("read_program",)})
