"""Tables as text: columns as wide as their widest cell, separated by two blanks."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = "  "


def column_widths(*rows: Sequence[str]) -> list[int]:
    """The width of each column in at least one row with equal numbers of cells, headings included."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def row_text(cells: Sequence[str], widths: Sequence[int], numbers: int | None = None) -> str:
    """A row whose first `numbers` cells (None: all) are right-aligned; the others are left-aligned."""
    to_the_right = len(cells) if numbers is None else numbers
    return _GAP.join(
        cell.rjust(width) if place < to_the_right else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
