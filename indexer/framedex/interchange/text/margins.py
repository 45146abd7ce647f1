"""What stands before every line of a stack beside what logs write: the indentation of a quotation, the side of a box.

A format whose lines only mean something below its heading is read behind the margin of the heading.
"""

from __future__ import annotations

from typing import NamedTuple


class Margin(NamedTuple):
    """The margin of the stack that is open."""

    text: str = ""

    def behind(self, line: str) -> int | None:
        """The column where the line's own text begins; None for a line without the margin."""
        return len(self.text) if line.startswith(self.text) else None
