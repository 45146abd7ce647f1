"""Answers of the index as lines to print: pure functions from model types to styled, linked text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from framedex import words
from framedex.commands.layout import cut
from framedex.commands.terminal import Line, Span, place_line, text_line
from framedex.errorcodes import error_name
from framedex.model import CallRow, CaptureRow, Edge, FunctionRow, How, LineSummary, Location, StackHit
from framedex.plaintext import printable

_CALL_COLUMNS = ("id", "seconds", "function", "arguments", "duration", "error", "thread")
# What gives way in a narrow terminal, in this order, and the width in columns that is left to it.
_NARROWEST = {"arguments": 9, "error": 9, "thread": 6, "function": 16}


def capture_lines(captures: Sequence[CaptureRow]) -> Iterator[Line]:
    """Captures, one per line, with what could not be read below."""
    for capture in captures:
        yield (
            Span(f"{capture.id:>3}  {words.clock(capture.started)}  ", "head"),
            Span(f"{words.count(capture.calls, 'call')}, {words.count(capture.stacks, 'stack')}  "),
            Span(f"{printable(capture.command)}  "),
            Span(printable(capture.path), "dim"),
        )
        yield from problem_lines(capture.problems)


def problem_lines(problems: Sequence[str]) -> Iterator[Line]:
    """What could not be read, indented below what it belongs to."""
    for problem in problems:
        yield text_line(f"     ! {problem}", "error")


def call_lines(calls: Sequence[CallRow], captures: Sequence[CaptureRow], width: int | None = None) -> Iterator[Line]:
    """Calls as a table, under a line for each capture; cells are cut where the table has to fit a width in columns."""
    names = {capture.id: capture for capture in captures}
    rows = [_call_cells(call) for call in calls]
    widths = [max(map(len, column)) for column in zip(_CALL_COLUMNS, *rows, strict=True)]
    if width is not None:
        widths = _narrowed(widths, width)
    current = None
    for call, cells in zip(calls, rows, strict=True):
        if call.capture != current:
            if current is not None:
                yield ()
            current = call.capture
            yield _capture_heading(names.get(current))
            yield (Span(_table_row(_CALL_COLUMNS, widths), "dim"),)
        yield (Span(_table_row(cells, widths), "error" if call.error > 0 else ""),)


def where_lines(
    path: str,
    counts: dict[int, int],
    summary: LineSummary | None,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    hits: Sequence[StackHit],
) -> Iterator[Line]:
    """The recorded lines of a file, or what passes one line of it and from where, and the stacks that do."""
    for line, calls in sorted(counts.items()):
        yield (*place_line(Location(path, line, How.EXACT)), Span(f"  {words.count(calls, 'call')}"))
    if summary is not None:
        yield from _summary_lines(summary, callers)
    if hits:
        yield ()
        yield text_line("stacks, most calls first:", "head")
    for hit in hits:
        yield (
            Span(f"{hit.calls:>8,}  "),
            Span(printable(hit.function), "native"),
            Span(f"  {words.duration(hit.total_duration)} in all, in "),
            Span(printable(hit.frame.function.name), hit.frame.function.language.value),
            Span(f"  framedex trace {hit.latest_call}", "dim"),
        )


def relation_lines(function: FunctionRow, edges: Sequence[Edge], heading: str, *, inward: bool) -> Iterator[Line]:
    """A function, and its callers with the lines of their calls, or (inward) its callees and where they are called."""
    yield (Span(printable(function.name), "head"), *_place(function.location))
    if not edges:
        yield text_line(f"  no recorded {heading}", "dim")
    for edge in edges:
        other = edge.callee if inward else edge.caller
        first, others, word = (other.location, edge.sites, "called at")
        if not inward:
            # Its first line would be taken for the line of the call.
            first, others, word = (edge.sites[0] if edge.sites else None, edge.sites[1:], "and at")
        yield (Span(f"{edge.calls:>8,}  "), Span(printable(other.name), other.language.value), *_place(first))
        for site in others:
            yield (Span(f"          {word} "), *place_line(site))


def _summary_lines(summary: LineSummary, callers: Mapping[tuple[FunctionRow, Location | None], int]) -> Iterator[Line]:
    hows = [how.value for how in summary.hows if how is not How.EXACT]
    yield (
        *place_line(Location(summary.path, summary.line, How.EXACT), hows),
        Span(f"  {words.count(summary.calls, 'call')}, {words.duration(summary.total_duration)} in all"),
    )
    for name, calls, duration in summary.boundaries:
        yield (Span(f"{calls:>8,}  "), Span(printable(name), "native"), Span(f"  {words.duration(duration)}"))
    for (function, site), calls in callers.items():
        yield (Span(f"{calls:>8,}  from "), Span(printable(function.name), function.language.value), *_place(site))


def _call_cells(call: CallRow) -> tuple[str, ...]:
    return (
        str(call.id),
        words.seconds(call.start),
        printable(call.function),
        words.arguments_short(call.arguments),
        words.duration(call.duration),
        error_text(call),
        printable(call.thread),
    )


def error_text(call: CallRow) -> str:
    """The error a call came back with, and the first line of its message; empty where there is none."""
    return error_lines(call)[0] if call.error > 0 else ""


def error_lines(call: CallRow) -> list[str]:
    """The error a call came back with and its message, line by line."""
    message = str(call.arguments.get("error_message") or "")
    name = error_name(call.error)
    # What PJRT plug-ins say often begins with the name of the code.
    text = message if message.startswith(name) or not message else f"{name}: {message}"
    return [printable(line) for line in (text or name).split("\n")]


def _table_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    identifier, seconds, *rest = (
        cell.rjust(width) if column < 2 else cut(cell, width).ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((identifier, seconds, *rest)).rstrip()


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """The widths of the columns, those that may give way as narrow as it takes for a row to fit into the room."""
    narrowed = list(widths)
    for name, narrowest in _NARROWEST.items():
        column = _CALL_COLUMNS.index(name)
        too_wide = sum(narrowed) + 2 * (len(narrowed) - 1) - room
        if too_wide > 0:
            narrowed[column] = min(narrowed[column], max(narrowest, narrowed[column] - too_wide))
    return narrowed


def _capture_heading(capture: CaptureRow | None) -> Line:
    if capture is None:
        return ()
    command = f"  {printable(capture.command)}" if capture.command else ""
    return (Span(f"capture {capture.id}", "head"), Span(f"  {words.clock(capture.started)}{command}"))


def _place(location: Location | None) -> Line:
    return (Span("  "), *place_line(location)) if location is not None else ()
