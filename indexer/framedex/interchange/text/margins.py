"""What stands before every line of a stack beside what logs write: the indentation of a quotation, the side of a box.

A format whose lines only mean something below its heading is read behind the margin of the heading.
"""

from __future__ import annotations


class Margin:
    """The margin of the stack that is open; one object follows one text."""

    def __init__(self) -> None:
        self._text = ""

    def begin(self, line: str, start: int) -> None:
        """Take what is before column `start` for the margin of the lines that follow."""
        self._text = line[:start]

    def behind(self, line: str) -> int | None:
        """The column where the line's own text begins; None for a line without the margin."""
        return len(self._text) if line.startswith(self._text) else None
