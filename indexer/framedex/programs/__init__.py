"""Compiled programs as they were given to the runtime: which lines their ops come from."""

from framedex.programs.reading import read_program

__all__ = ["read_program"]
