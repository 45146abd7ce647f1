"""Compilations by line as a table, with the reasons for recompiling below each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.costs.rows import called_from, rest_line
from framedex.commands.output.proposals import trace_command
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.costtext import advised_text, failures_text
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.model import Compiles

_HEADS = ("compiles", "time", "longest", "loads")
_MOST_CHANGES = 6
_INDENT = 8


def compiles_lines(rows: Sequence[Compiles], limit: int) -> Iterator[Line]:
    """The first `limit` rows (0: all), and the sums of all rows."""
    shown = rows[:limit] if limit else rows
    columns = len(_HEADS) if any(row.loads for row in rows) else len(_HEADS) - 1
    heads, *cells, sums = (each[:columns] for each in (_HEADS, *map(_cells, shown), _sums(rows)))
    widths = column_widths(heads, *cells, sums)
    yield (Span(f"{row_text(heads, widths)}  function, and the line that had it compiled", "dim"),)
    for row, of_row in zip(shown, cells, strict=True):
        yield (
            Span(f"{row_text(of_row, widths)}  "),
            Span(_name(row), "head"),
            Span("  "),
            *python_line(row.line, 0),
            Span("  "),
            Span(trace_command(row.latest_call), "dim", whole=True),
        )
        yield from called_from(row.outward, _INDENT)
        yield from _why(row)
    yield (Span(f"{row_text(sums, widths)}  total", "dim"),)
    yield from rest_line(len(rows) - len(shown), "row")


def _why(row: Compiles) -> Iterator[Line]:
    if row.failed:
        yield text_line(f"{'':{_INDENT}}{failures_text(row)}", "error")
    for change in row.changes[:_MOST_CHANGES]:
        yield text_line(f"{'':{_INDENT}}{printable(advised_text(change))}")
    if len(row.changes) > _MOST_CHANGES:
        yield text_line(f"{'':{_INDENT}}and {words.count(len(row.changes) - _MOST_CHANGES, 'more change')}", "dim")
    if row.problem:
        yield text_line(f"{'':{_INDENT}}Not all is known of what was compiled: {printable(row.problem)}.", "dim")


def _name(row: Compiles) -> str:
    """The name of the function; executables from a compilation cache have none."""
    return printable(row.function) or ("(from a compilation cache)" if row.loads else "(not known)")


def _cells(row: Compiles) -> tuple[str, ...]:
    return (
        f"{row.compiles:,}" if row.compiles else "",
        words.duration(row.total_duration) if row.compiles else "",
        words.duration(row.longest_duration) if row.compiles > 1 else "",
        f"{row.loads:,} in {words.duration(row.load_duration)}" if row.loads else "",
    )


def _sums(rows: Sequence[Compiles]) -> tuple[str, ...]:
    loads, load_duration = sum(row.loads for row in rows), sum(row.load_duration for row in rows)
    return (
        f"{sum(row.compiles for row in rows):,}",
        words.duration(sum(row.total_duration for row in rows)),
        "",
        f"{loads:,} in {words.duration(load_duration)}" if loads else "",
    )
