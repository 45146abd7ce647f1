"""What compiles as lines to print: a line of the program in each, and below it why it compiled again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import command
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.model import Cause
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.model import Change, Compiles

_MOST_CHANGES = 6
_MOST_VALUES = 6
_INDENT = 8
_IN_WORDS = {Cause.STATIC: "static argument ", Cause.OPTIONS: "compile option "}
_AS_TYPES = (Cause.SHAPE, Cause.DTYPE, Cause.CODE)
_NAMED_BY_WHAT = (Cause.SHAPE, Cause.DTYPE, Cause.ARGUMENTS, Cause.CONSTANTS)
_WITHOUT_VALUES = {
    Cause.SAME: "the same program again: jax.jit was made anew, its cache was cleared, or what is other leaves no trace"
    " in the program, as weak types, static arguments and unused arguments may",
    Cause.CODE: "other code for arguments of the same types: a static argument, a weak type, what the function reads"
    " from outside, or another function of this name",
}


def compiles_lines(rows: Sequence[Compiles], limit: int) -> Iterator[Line]:
    """The first `limit` rows (0: all), and the sum of all."""
    shown = rows[:limit] if limit else rows
    heads = ("compiles", "time", "longest", "loads")
    cells = [_cells(row) for row in shown]
    sums = _sums(rows)
    widths = [max(map(len, column)) for column in zip(heads, *cells, sums, strict=True)]
    has_loads = any(row.loads for row in rows)
    columns = len(heads) - (not has_loads)
    yield (Span(f"{_right(heads[:columns], widths)}  function, and the line that had it compiled", "dim"),)
    for row, of_row in zip(shown, cells, strict=True):
        yield (
            Span(f"{_right(of_row[:columns], widths)}  "),
            Span(_name(row), "head"),
            Span("  "),
            *python_line(row.line, 0),
            Span("  "),
            Span(command("trace", str(row.latest_call)), "dim", whole=True),
        )
        for line in row.outward:
            yield (Span(f"{'':{_INDENT}}called from ", "dim"), *python_line(line, 0))
        yield from _why(row)
    yield (Span(f"{_right(sums[:columns], widths)}  total", "dim"),)
    if len(shown) < len(rows):
        yield text_line(f"and {words.count(len(rows) - len(shown), 'more row')}: --limit 0 shows all.", "dim")


def _why(row: Compiles) -> Iterator[Line]:
    if row.failed:
        yield text_line(f"{'':{_INDENT}}{_failures(row)}", "error")
    for change in row.changes[:_MOST_CHANGES]:
        yield text_line(f"{'':{_INDENT}}{printable(change_text(change))}")
    if len(row.changes) > _MOST_CHANGES:
        yield text_line(f"{'':{_INDENT}}and {words.count(len(row.changes) - _MOST_CHANGES, 'more change')}", "dim")
    if row.problem:
        yield text_line(f"{'':{_INDENT}}Not all is known of what was compiled: {printable(row.problem)}.", "dim")


def _failures(row: Compiles) -> str:
    made = row.compiles + row.loads
    if made == row.failed:
        return "failed" if made == 1 else f"all {made:,} failed"
    return f"{row.failed:,} of {made:,} failed"


def _name(row: Compiles) -> str:
    """The function; a compilation cache gives executables without a name."""
    return printable(row.function) or ("(from a compilation cache)" if row.loads else "(not known)")


def change_text(change: Change) -> str:
    """A change as a sentence: `argument 0 (x) was float32[1], [2], ... [19]`."""
    if not change.values:
        return _WITHOUT_VALUES.get(change.cause, change.what or change.cause.value)
    values = _short(change.values) if change.cause in _AS_TYPES else list(change.values)
    if len(values) > _MOST_VALUES:
        values = [*values[: _MOST_VALUES // 2], "...", values[-1]]
    named = "" if change.cause in _NAMED_BY_WHAT else f"{change.cause.value}: "
    about = _IN_WORDS.get(change.cause, named)
    verb = "were" if change.what == "constants" else "was"
    return f"{about}{change.what} {verb} {', '.join(values)}".replace(", ...,", ", ...")


def _short(values: Sequence[str]) -> list[str]:
    """Types in turn without a dtype that the one before has."""
    found, before = [], ""
    for value in values:
        dtype, bracket, shape = value.partition("[")
        found.append(f"[{shape}" if bracket and dtype == before and shape != "]" else value)
        before = dtype
    return found


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


def _right(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=False))
