"""Calls as a log, and their totals as a table: lines to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from framedex import words
from framedex.calltext import call_text
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Line, Span, place_line
from framedex.model import CallRow
from framedex.plaintext import printable, truncate

if TYPE_CHECKING:
    from framedex.commands.output.repetition import Run
    from framedex.model import CaptureRow, FunctionTotals, PythonLine
    from framedex.model.profile_totals import ProfileTotals

Below = Callable[[Sequence[CallRow]], Callable[[CallRow], Iterable[Line]]]
"""A function from the calls of a page to a function with the lines to print below a call."""

_PAGE = 20_000  # runs of calls

_NUMBERS = 3  # the first columns, which are right-aligned
_NARROWEST = 24  # minimum width of the call's text, in columns
_WIDEST_THREAD = 16
_MOST_SAMPLED = 50  # functions of an imported profile


def call_lines(
    runs: Iterable[Run], captures: Sequence[CaptureRow], width: int | None = None, below: Below | None = None
) -> Iterator[Line]:
    """Calls by time, nested ones indented; `below` returns lines to print below a call.

    Calls of several captures have a heading per capture. If `width` (in columns) is given, the text of a call is cut,
    and the thread is omitted if all calls share it. A long log is formatted in pages, with at most two in memory, and
    columns may widen with each page.
    """
    names = {capture.id: capture for capture in captures}
    heads: tuple[str, ...] = ("id", "seconds", "duration", "thread")
    widths = [len(head) for head in heads]
    mark_width = 0
    depth: dict[int, int] = {}
    current = None
    pages = _pages(runs)
    page, following = next(pages, []), next(pages, [])
    if width is not None and not following and len({(c.capture, c.thread) for run in page for c in run.calls}) == 1:
        heads, widths = heads[:3], widths[:3]
    while page:
        shown = [call for run in page for call in run.calls]
        depth = _depths(shown, depth)
        rows = [_cells(call, run, place)[: len(heads)] for run in page for place, call in enumerate(run.calls)]
        marks = [mark for run in page for mark in _marks(run)]
        widths = [max(wide, *map(len, column)) for wide, column in zip(widths, zip(*rows, strict=True), strict=True)]
        mark_width = max(mark_width, *map(len, marks))
        of_call = below(shown) if below is not None else None
        for call, cells, mark in zip(shown, rows, marks, strict=True):
            if call.capture != current:
                if current is not None:
                    yield ()
                current = call.capture
                if len(names) > 1:
                    yield capture_heading(names.get(current))
                head = row_text(heads, widths, _NUMBERS) + (" " * (mark_width + 2) if mark_width else "") + "  call"
                yield (Span(head, "dim"),)
            left = row_text(cells, widths, _NUMBERS) + (f"  {mark.ljust(mark_width)}" if mark_width else "") + "  "
            text = "  " * depth[call.id] + call_text(call)
            if width is not None:
                text = truncate(text, max(width - len(left), _NARROWEST))
            yield (Span(left, "dim"), Span(text, "error" if call.error > 0 else ""))
            yield from of_call(call) if of_call is not None else ()
        page, following = following, next(pages, [])


def _pages(runs: Iterable[Run]) -> Iterator[list[Run]]:
    coming = iter(runs)
    while page := list(islice(coming, _PAGE)):
        yield page


def python_line(line: PythonLine | None, indent: int) -> Line:
    """The Python line that led to a call."""
    if line is None:
        return (Span(f"{'':{indent}}no Python on this stack", "dim"),)
    linked = "" if line.link is None else "dispatched from "
    how = "" if line.link is None else f" [{line.link}]"
    place = place_line(line.location)
    return (Span(" " * indent), Span(linked, "dim"), *place, Span(f" in {printable(line.function)}{how}", "dim"))


def totals_lines(totals: Sequence[FunctionTotals], *, by_thread: bool) -> Iterator[Line]:
    """Totals by function as a table, with their sum below."""
    whole = sum(each.self_time for each in totals)
    heads = ("% self", "self", "total", "calls", "errors", "mean", "median", "p90", "p99", "max")
    rows = [_total_cells(each, whole) for each in totals]
    calls, errors = sum(each.calls for each in totals), sum(each.errors for each in totals)
    total = ("100.0", words.duration(whole), "", f"{calls:,}", f"{errors:,}" if errors else "", *[""] * 5)
    widths = column_widths(heads, *rows, total)
    threads = ["thread", *(printable(each.thread or "") for each in totals)] if by_thread else [""] * (len(totals) + 1)
    thread_width = max(map(len, threads)) + 2 * by_thread
    head, *tails = (thread.ljust(thread_width) for thread in threads)
    yield (Span(row_text(heads, widths) + "  " + head + "function", "dim"),)
    for each, cells, tail in zip(totals, rows, tails, strict=True):
        yield (
            Span(row_text(cells, widths) + "  "),
            Span(tail, "dim"),
            Span(printable(each.function), "error" if each.errors else "native"),
        )
    yield (Span(row_text(total, widths) + "  total", "dim"),)


def profile_lines(totals: ProfileTotals) -> Iterator[Line]:
    """Self and total weight by function of the samples of imported profiles, with their unit."""
    heads = ("% self", "self", "% total", "total")
    shown = totals.functions[:_MOST_SAMPLED]
    whole = max(totals.weight, 1)
    weight = _weight_words(totals)
    rows = [
        (
            f"{100 * each.self_weight / whole:.1f}",
            weight(each.self_weight),
            f"{100 * each.total / whole:.1f}",
            weight(each.total),
        )
        for each in shown
    ]
    last = ("100.0", weight(totals.weight), "", "")
    widths = column_widths(heads, *rows, last)
    thread = f", thread {printable(totals.thread)}" if totals.thread else ""
    yield (Span(f"{printable(totals.value)}{thread}", "head"),)
    yield (Span(f"{row_text(heads, widths)}  function", "dim"),)
    for each, cells in zip(shown, rows, strict=True):
        function = each.function
        name = Span(printable(function.name), function.language.value)
        place = (Span("  "), *place_line(function.location)) if function.location is not None else ()
        yield (Span(f"{row_text(cells, widths)}  "), name, *place)
    if len(totals.functions) > len(shown):
        left_out = words.count(len(totals.functions) - len(shown), "more function")
        yield (Span(f"… {left_out}; --json lists all", "dim"),)
    yield (Span(f"{row_text(last, widths)}  total", "dim"),)


def _weight_words(totals: ProfileTotals) -> Callable[[int], str]:
    if totals.is_time:
        return words.duration
    return words.size if totals.value.endswith("(bytes)") else "{:,}".format


def capture_heading(capture: CaptureRow | None) -> Line:
    """The heading of the lines of a capture."""
    if capture is None:
        return ()
    command = f"  {printable(capture.command)}" if capture.command else ""
    return (Span(f"capture {capture.id}", "head"), Span(f"  {words.clock(capture.started)}{command}"))


def _depths(calls: Iterable[CallRow], before: Mapping[int, int]) -> dict[int, int]:
    """The nesting depth of each shown call; `before` has the depths of the previous page."""
    depth: dict[int, int] = {}
    for call in calls:
        outer = -1 if call.parent is None else depth.get(call.parent, before.get(call.parent, -1))
        depth[call.id] = outer + 1
    return depth


def _cells(call: CallRow, run: Run, place: int) -> tuple[str, str, str, str]:
    duration = words.duration(run.mean_durations[place])
    about = "~" if run.times > 1 and call.duration >= 0 else ""
    return str(call.id), words.seconds(call.start), about + duration, truncate(printable(call.thread), _WIDEST_THREAD)


def _marks(run: Run) -> list[str]:
    """The marks beside the calls of a run: the number of repetitions, and a bracket over its lines."""
    if run.times == 1:
        return [""] * len(run.calls)
    times = f"x {run.times:,}"
    if len(run.calls) == 1:
        return [times]
    return [f"{times} ┐", *[f"{'':{len(times)}} │"] * (len(run.calls) - 2), f"{'':{len(times)}} ┘"]


def _total_cells(totals: FunctionTotals, whole: int) -> tuple[str, ...]:
    measures = (totals.mean, totals.median, totals.p90, totals.p99, totals.longest)
    has_returned = totals.calls > totals.never_returned
    return (
        f"{100 * totals.self_time / whole:.1f}" if whole else "0.0",
        words.duration(totals.self_time) if has_returned else "",
        words.duration(totals.total) if has_returned else "never returned",
        f"{totals.calls:,}",
        f"{totals.errors:,}" if totals.errors else "",
        *(words.duration(measure) if has_returned else "" for measure in measures),
    )
