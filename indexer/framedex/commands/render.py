"""Answers of the index as lines to print: pure functions from model types to styled, linked text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framedex import words
from framedex.commands.terminal import Line, Span, location_span, text_line
from framedex.model import CallRow, CaptureRow, Edge, FunctionRow, How, LineSummary, Location, StackHit
from framedex.plaintext import printable


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


def call_lines(calls: Sequence[CallRow], captures: Sequence[CaptureRow]) -> Iterator[Line]:
    """Calls as a table, under a line for each capture."""
    names = {capture.id: capture for capture in captures}
    rows = [_call_cells(call) for call in calls]
    header = ("id", "seconds", "function", "arguments", "duration", "error", "thread")
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    current = None
    for call, cells in zip(calls, rows, strict=True):
        if call.capture != current:
            if current is not None:
                yield ()
            current = call.capture
            yield _capture_heading(names.get(current))
            yield (Span(_table_row(header, widths), "dim"),)
        yield (Span(_table_row(cells, widths), "error" if call.error > 0 else ""),)


def where_lines(
    path: str, counts: dict[int, int], summary: LineSummary | None, hits: Sequence[StackHit]
) -> Iterator[Line]:
    """The recorded lines of a file, or what passes one line of it, and the stacks that do."""
    for line, calls in sorted(counts.items()):
        yield (location_span(Location(path, line, How.EXACT)), Span(f"  {words.count(calls, 'call')}"))
    if summary is not None:
        yield from _summary_lines(summary)
    if hits:
        yield ()
        yield text_line("stacks, most calls first:", "head")
    for hit in hits:
        yield (
            Span(f"{hit.calls:>8,}  "),
            Span(printable(hit.function), "native"),
            Span(f"  {words.duration(hit.total_duration)} in all, in "),
            Span(printable(hit.frame.function.name), hit.frame.function.language.value),
            Span(f" (frame {hit.position})  "),
            Span(f"framedex trace {hit.latest_call}", "dim"),
        )


def relation_lines(function: FunctionRow, edges: Sequence[Edge], heading: str, *, inward: bool) -> Iterator[Line]:
    """A function, and its callers or (inward) callees, with the caller's lines."""
    yield (Span(printable(function.name), "head"), *_place(function.location))
    if not edges:
        yield text_line(f"  no recorded {heading}", "dim")
    for edge in edges:
        other = edge.callee if inward else edge.caller
        yield (Span(f"{edge.calls:>8,}  "), Span(printable(other.name), other.language.value), *_place(other.location))
        for site in edge.sites:
            yield (Span("          called at " if inward else "          calls at "), *_labelled(site))


def _summary_lines(summary: LineSummary) -> Iterator[Line]:
    hows = [how.value for how in summary.hows if how is not How.EXACT]
    yield (
        location_span(Location(summary.path, summary.line, How.EXACT)),
        Span(f" [{', '.join(hows)}]" if hows else "", "dim"),
        Span(f"  {words.count(summary.calls, 'call')}, {words.duration(summary.total_duration)} in all"),
    )
    for name, calls, duration in summary.boundaries:
        yield (Span(f"{calls:>8,}  "), Span(printable(name), "native"), Span(f"  {words.duration(duration)}"))
    for function, calls in summary.callers:
        yield (
            Span(f"{calls:>8,}  from "),
            Span(printable(function.name), function.language.value),
            *_place(function.location),
        )


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
    """The error a call came back with; empty where there is none."""
    if call.error <= 0:
        return ""
    message = str(call.arguments.get("error_message") or "").partition("\n")[0]
    return printable(f"{call.error}: {message[:60]}" if message else str(call.error))


def _table_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    identifier, seconds, *rest = (
        cell.rjust(width) if column < 2 else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((identifier, seconds, *rest)).rstrip()


def _capture_heading(capture: CaptureRow | None) -> Line:
    if capture is None:
        return ()
    command = f"  {printable(capture.command)}" if capture.command else ""
    return (Span(f"capture {capture.id}", "head"), Span(f"  {words.clock(capture.started)}{command}"))


def _place(location: Location | None) -> Line:
    return (Span("  "), *_labelled(location)) if location is not None else ()


def _labelled(location: Location) -> Line:
    label = "" if location.how is How.EXACT else f" [{location.how.value}]"
    return (location_span(location), Span(label, "dim"))
