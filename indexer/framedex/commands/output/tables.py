"""Tables as text: columns as wide as their widest cell, two blanks apart."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = "  "


def column_widths(*rows: Sequence[str]) -> list[int]:
    """How wide each column is, by rows (one at least) of as many cells each; their heads are one of them."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def row_text(cells: Sequence[str], widths: Sequence[int], numbers: int | None = None) -> str:
    """A row: its first `numbers` cells (None: all) stand at the right of their columns, the others at the left."""
    to_the_right = len(cells) if numbers is None else numbers
    return _GAP.join(
        cell.rjust(width) if place < to_the_right else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
