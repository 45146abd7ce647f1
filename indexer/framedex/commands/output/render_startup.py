"""Formats the start of processes as a tree: parts with their share of the time, then names and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_calls import render_python_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.model import StartupPart
from framedex.texts.startup import format_startup_title, format_traced_line

if TYPE_CHECKING:
    from framedex.model import Startup, StartupTotals

_MIN_SHARE = 0.005  # share of the start-up time; shorter rows are summed
_DURATION_WIDTH = 7
_MAX_ROWS = 10
_MAX_TRACED_LINES = 5
_MIN_TRACING_SHARE = 0.01  # share of the start-up time from which tracing is shown by line
_MIN_OPS_SHARE = 0.05  # share of the ops of the line with most ops


def render_startup_lines(found: Sequence[Startup], *, is_complete: bool) -> Iterator[Line]:
    """The process whose start took longest, and the number of others; with `is_complete` all processes and rows."""
    for each in found if is_complete else found[:1]:
        yield ()
        yield from _render_process_lines(each, is_complete=is_complete)
    if len(found) > 1 and not is_complete:
        text = f"and {words.count(len(found) - 1, 'faster start')} of other processes: --limit 0 shows all."
        yield render_text_line(text, "dim")


def _render_process_lines(startup: Startup, *, is_complete: bool) -> Iterator[Line]:
    trace = (Span("  "), Span(build_trace_command(startup.call), "dim", is_unbreakable=True)) if startup.call else ()
    place = (Span("  "), *render_python_line(startup.line, 0)) if startup.line is not None else ()
    yield (Span(format_startup_title(startup), "head"), *place, *trace)
    cells = [_format_part_cells(part, startup.duration) for part in startup.parts]
    widths = measure_columns(*cells)
    indent = len(format_row(cells[0], widths)) + 2
    for part, part_cells in zip(startup.parts, cells, strict=True):
        yield (Span(f"{format_row(part_cells, widths)}  "), Span(part.part.value, "head"))
        yield from _render_row_lines(part, startup.duration, indent, is_complete=is_complete)
        if part.part is StartupPart.TRACING and (is_complete or part.duration >= _MIN_TRACING_SHARE * startup.duration):
            yield from _render_traced_lines(startup, indent, is_complete=is_complete)
    if startup.elsewhere:
        text = f"Other threads prepared programs for {words.format_duration(startup.elsewhere)} meanwhile."
        yield render_text_line(text, "dim")
    if not startup.is_complete:
        yield render_text_line("The recording has no later phases: there were too many.", "error")


def _format_part_cells(part: StartupTotals, whole: int) -> tuple[str, ...]:
    return words.format_duration(part.duration), f"{100 * part.duration / max(whole, 1):.1f} %"


def _render_row_lines(part: StartupTotals, whole: int, indent: int, *, is_complete: bool) -> Iterator[Line]:
    """The rows of a part: all, or the longest ones."""
    named = [row for row in part.rows if row.name]
    shown = [row for row in named[:_MAX_ROWS] if row.duration >= _MIN_SHARE * whole] or named[:1]
    shown = named if is_complete else shown
    for row in shown:
        times = f", {row.count:,} times" if row.count > 1 and part.part is not StartupPart.IMPORTS else ""
        place = (Span("  "), *render_python_line(row.line, 0)) if row.line is not None else ()
        before = f"{'':{indent}}{words.format_duration(row.duration):>{_DURATION_WIDTH}}  "
        yield (Span(f"{before}{make_printable(row.name)}{times}"), *place)
    if named[len(shown) :]:
        duration = words.format_duration(sum(row.duration for row in named[len(shown) :]))
        text = f"{'':{indent}}{duration:>{_DURATION_WIDTH}}  {len(named) - len(shown):,} more"
        yield render_text_line(text, "dim")


def _render_traced_lines(startup: Startup, indent: int, *, is_complete: bool) -> Iterator[Line]:
    """The lines that add the most ops."""
    most = max((max(each.ops, each.repeated_ops) for each in startup.traced_lines), default=0)
    notable = [each for each in startup.traced_lines if max(each.ops, each.repeated_ops) >= _MIN_OPS_SHARE * most]
    for each in startup.traced_lines if is_complete else notable[:_MAX_TRACED_LINES]:
        text = f"{'':{indent + _DURATION_WIDTH + 4}}{format_traced_line(each)}"
        yield (Span(make_printable(text), "dim"), Span("  "), *render_python_line(each.line, 0))
