"""The left margin of a stack beside log prefixes: the indentation of a quotation, or the border of a box.

Formats whose lines have a meaning only below their heading are parsed after the heading's margin.
"""

from __future__ import annotations

from typing import NamedTuple


class Margin(NamedTuple):
    """The margin of the open stack."""

    text: str = ""

    def behind(self, line: str) -> int | None:
        """Return the column after the margin; None for a line without the margin."""
        return len(self.text) if line.startswith(self.text) else None
