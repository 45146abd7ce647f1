"""Transfers between host and devices as lines to print: sums by direction, then rows by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.costs.rows import called_from, rest_line
from framedex.commands.output.proposals import trace_command
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Line, Span
from framedex.model import Direction
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.model import Transfers

_HEADS = ("bytes", "copies", "time", "direction", "moved by", "")
_NUMBERS = 3  # the first columns, which are right-aligned
_INDENT = 8


def sums_lines(rows: Sequence[Transfers]) -> Iterator[Line]:
    """The totals of each direction, and their implicit part."""
    for direction in Direction:
        moved = [row for row in rows if row.direction is direction]
        if moved:
            implicit = [row for row in moved if row.is_implicit]
            told = f"implicit {_sum(implicit)}" if implicit else "none implicit"
            spent = words.duration(sum(row.total_duration for row in moved))
            yield (Span(direction.value, "head"), Span(f"  {_sum(moved)}, {spent}; {told}"))


def _sum(rows: Sequence[Transfers]) -> str:
    count, unsized = sum(row.count for row in rows), sum(row.unsized for row in rows)
    more = f" without {unsized:,} of unknown size" if unsized else ""
    return f"{count:,} {'copy' if count == 1 else 'copies'}, {words.size(sum(row.size for row in rows))}{more}"


def rows_lines(rows: Sequence[Transfers], limit: int) -> Iterator[Line]:
    """The first `limit` rows (0: all)."""
    shown = rows[:limit] if limit else rows
    cells = [_cells(row) for row in shown]
    widths = column_widths(_HEADS, *cells)
    yield (Span(f"{row_text(_HEADS, widths, _NUMBERS)}  line", "dim"),)
    for row, of_row in zip(shown, cells, strict=True):
        yield (
            Span(f"{row_text(of_row, widths, _NUMBERS)}  "),
            *python_line(row.line, 0),
            Span("  "),
            Span(trace_command(row.latest_call), "dim", whole=True),
        )
        yield from called_from(row.outward, _INDENT)
    yield from rest_line(len(rows) - len(shown), "row")


def _cells(row: Transfers) -> tuple[str, ...]:
    known = words.size(row.size) if row.unsized < row.count else ""
    return (
        f"{known}{' + ?' if known else '?'}" if row.unsized else known,
        f"{row.count:,}",
        words.duration(row.total_duration),
        row.direction.value,
        printable(row.how) or "(not known)",
        "implicit" if row.is_implicit else "",
    )
