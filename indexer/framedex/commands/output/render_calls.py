"""Calls as a log, and their totals as a table: lines to print."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import eq
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable, truncate
from framedex.commands.output.terminal import (
    Line,
    Span,
    format_row,
    measure_columns,
    render_location_line,
    render_text_line,
)
from framedex.model import CallRow
from framedex.texts.calls import call_text

if TYPE_CHECKING:
    from framedex.model import CaptureRow, FunctionTotals, PythonLine
    from framedex.model.totals import ProfileTotals

_LOOK_AHEAD = 100_000  # calls examined for repetition
_MAX_SEQUENCE_LENGTH = 256  # calls; a step of a training loop is usually shorter


@dataclass(frozen=True, slots=True)
class RepeatedCalls:
    """A sequence of calls that was repeated `times` times in a row; `calls` are those of the first repetition.

    `mean_durations` are in nanoseconds, one per call of the sequence; -1 if one of the calls never returned.
    """

    calls: tuple[CallRow, ...]
    times: int
    mean_durations: tuple[int, ...]


def build_single_runs(calls: Iterable[CallRow]) -> Iterator[RepeatedCalls]:
    """Yield one run per call."""
    return (RepeatedCalls((call,), 1, (call.duration,)) for call in calls)


def find_runs(calls: Iterable[CallRow]) -> Iterator[RepeatedCalls]:
    """Yield the calls in order, with repeated sequences as one run: same functions, threads and outcomes.

    The next hundred thousand calls determine the sequence; all calls determine the number of repetitions.
    """
    remaining = iter(calls)
    look_ahead = deque(islice(remaining, _LOOK_AHEAD))
    keys = deque(map(_repetition_key, look_ahead))
    while look_ahead:
        length = _measure_repetition(keys)
        first = tuple(islice(look_ahead, length))
        expected = tuple(islice(keys, length))
        means = [_MeanDuration() for _ in first]
        repeated = 0
        while len(look_ahead) >= length and all(map(eq, keys, expected)):
            for mean in means:
                mean.add(look_ahead.popleft().duration)
                keys.popleft()
            repeated += 1
            _refill_look_ahead(look_ahead, keys, remaining)
        yield RepeatedCalls(first, repeated, tuple(mean.value for mean in means))
        _refill_look_ahead(look_ahead, keys, remaining)


def _refill_look_ahead(look_ahead: deque[CallRow], keys: deque[object], remaining: Iterator[CallRow]) -> None:
    """Refill the look-ahead buffer when half of it is consumed."""
    if len(look_ahead) <= _LOOK_AHEAD // 2:
        more = list(islice(remaining, _LOOK_AHEAD - len(look_ahead)))
        look_ahead.extend(more)
        keys.extend(map(_repetition_key, more))


def _repetition_key(call: CallRow) -> object:
    return call.capture, call.function, call.thread, call.error, call.parent is None


def _measure_repetition(keys: Sequence[object]) -> int:
    """The length of the sequence that repeats at the start and covers the most calls; of several, the shortest."""
    best = 1, 1
    first = keys[0]
    for length in range(1, min(_MAX_SEQUENCE_LENGTH, len(keys) // 2) + 1):
        if first != keys[length]:
            continue
        covered = length + sum(1 for _ in takewhile(bool, map(eq, keys, islice(keys, length, None))))
        times = covered // length
        if times > 1 and length * times > best[0] * best[1]:
            best = length, times
    return best[0]


class _MeanDuration:
    """The mean of durations; -1 if a call never returned."""

    def __init__(self) -> None:
        self._sum = 0
        self._count = 0
        self._is_known = True

    def add(self, duration: int) -> None:
        """Add a duration."""
        self._sum += duration
        self._count += 1
        self._is_known = self._is_known and duration >= 0

    @property
    def value(self) -> int:
        """The mean, in the unit of the durations."""
        return round(self._sum / self._count) if self._is_known else -1


NestedLines = Callable[[Sequence[CallRow]], Callable[[CallRow], Iterable[Line]]]
"""Takes the calls of a page, and returns a function from a call to the lines to print below it."""

_PAGE = 20_000  # runs of calls

_NUMBERS = 3  # the first columns, which are right-aligned
_MIN_TEXT_WIDTH = 24  # minimum width of the call's text, in columns
_MAX_THREAD_WIDTH = 16
_MAX_PROFILE_ROWS = 50  # functions of an imported profile


def call_lines(
    runs: Iterable[RepeatedCalls],
    captures: Sequence[CaptureRow],
    width: int | None = None,
    below: NestedLines | None = None,
) -> Iterator[Line]:
    """Calls by time, nested ones indented; `below` returns lines to print below a call.

    Each of several captures has a heading. If `width` (in columns) is given, the text of a call is truncated, and the
    thread is omitted if all calls share it. A long log is formatted in pages, at most two of them in memory. Columns
    may widen with each page.
    """
    names = {capture.id: capture for capture in captures}
    heads: tuple[str, ...] = ("id", "seconds", "duration", "thread")
    widths = [len(head) for head in heads]
    mark_width = 0
    depth: dict[int, int] = {}
    current = None
    pages = _split_into_pages(runs)
    page, following = next(pages, []), next(pages, [])
    if width is not None and not following and len({(c.capture, c.thread) for run in page for c in run.calls}) == 1:
        heads, widths = heads[:3], widths[:3]
    while page:
        shown = [call for run in page for call in run.calls]
        depth = _compute_nesting_depths(shown, depth)
        rows = [
            _call_cells(call, run, position)[: len(heads)] for run in page for position, call in enumerate(run.calls)
        ]
        marks = [mark for run in page for mark in _repetition_marks(run)]
        widths = [max(wide, *map(len, column)) for wide, column in zip(widths, zip(*rows, strict=True), strict=True)]
        mark_width = max(mark_width, *map(len, marks))
        lines_below = below(shown) if below is not None else None
        for call, cells, mark in zip(shown, rows, marks, strict=True):
            if call.capture != current:
                if current is not None:
                    yield ()
                current = call.capture
                if len(names) > 1:
                    yield render_capture_heading(names.get(current))
                head = format_row(heads, widths, _NUMBERS) + (" " * (mark_width + 2) if mark_width else "") + "  call"
                yield (Span(head, "dim"),)
            left = format_row(cells, widths, _NUMBERS) + (f"  {mark.ljust(mark_width)}" if mark_width else "") + "  "
            text = "  " * depth[call.id] + call_text(call)
            if width is not None:
                text = truncate(text, max(width - len(left), _MIN_TEXT_WIDTH))
            yield (Span(left, "dim"), Span(text, "error" if call.error > 0 else ""))
            yield from lines_below(call) if lines_below is not None else ()
        page, following = following, next(pages, [])


def _split_into_pages(runs: Iterable[RepeatedCalls]) -> Iterator[list[RepeatedCalls]]:
    remaining = iter(runs)
    while page := list(islice(remaining, _PAGE)):
        yield page


def render_python_line(line: PythonLine | None, indent: int) -> Line:
    """The Python line that led to a call, or a remark that there is none."""
    if line is None:
        return (Span(f"{'':{indent}}no Python on this stack", "dim"),)
    linked = "" if line.link is None else "dispatched from "
    how = "" if line.link is None else f" [{line.link}]"
    place = render_location_line(line.location)
    return (Span(" " * indent), Span(linked, "dim"), *place, Span(f" in {make_printable(line.function)}{how}", "dim"))


def render_totals_lines(totals: Sequence[FunctionTotals], *, by_thread: bool) -> Iterator[Line]:
    """Totals by function as a table, with their sum below."""
    whole = sum(each.self_time for each in totals)
    heads = ("% self", "self", "total", "calls", "errors", "mean", "median", "p90", "p99", "max")
    rows = [_format_total_cells(each, whole) for each in totals]
    calls, errors = sum(each.calls for each in totals), sum(each.errors for each in totals)
    total = ("100.0", words.format_duration(whole), "", f"{calls:,}", f"{errors:,}" if errors else "", *[""] * 5)
    widths = measure_columns(heads, *rows, total)
    threads = (
        ["thread", *(make_printable(each.thread or "") for each in totals)] if by_thread else [""] * (len(totals) + 1)
    )
    thread_width = max(map(len, threads)) + 2 * by_thread
    head, *tails = (thread.ljust(thread_width) for thread in threads)
    yield (Span(format_row(heads, widths) + "  " + head + "function", "dim"),)
    for each, cells, tail in zip(totals, rows, tails, strict=True):
        yield (
            Span(format_row(cells, widths) + "  "),
            Span(tail, "dim"),
            Span(make_printable(each.function), "error" if each.errors else "native"),
        )
    yield (Span(format_row(total, widths) + "  total", "dim"),)


def render_profile_lines(totals: ProfileTotals) -> Iterator[Line]:
    """Self and total weight by function of the samples of imported profiles, with their unit."""
    heads = ("% self", "self", "% total", "total")
    shown = totals.functions[:_MAX_PROFILE_ROWS]
    whole = max(totals.weight, 1)
    weight = _weight_format(totals)
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
    widths = measure_columns(heads, *rows, last)
    thread = f", thread {make_printable(totals.thread)}" if totals.thread else ""
    yield (Span(f"{make_printable(totals.value)}{thread}", "head"),)
    yield (Span(f"{format_row(heads, widths)}  function", "dim"),)
    for each, cells in zip(shown, rows, strict=True):
        function = each.function
        name = Span(make_printable(function.name), function.language.value)
        place = (Span("  "), *render_location_line(function.location)) if function.location is not None else ()
        yield (Span(f"{format_row(cells, widths)}  "), name, *place)
    if len(totals.functions) > len(shown):
        left_out = words.count(len(totals.functions) - len(shown), "more function")
        yield (Span(f"… {left_out}; --json lists all", "dim"),)
    yield (Span(f"{format_row(last, widths)}  total", "dim"),)


def _weight_format(totals: ProfileTotals) -> Callable[[int], str]:
    if totals.is_time:
        return words.format_duration
    return words.format_size if totals.value.endswith("(bytes)") else "{:,}".format


def render_capture_heading(capture: CaptureRow | None) -> Line:
    """The heading of the lines of a capture."""
    if capture is None:
        return ()
    command = f"  {make_printable(capture.command)}" if capture.command else ""
    return (Span(f"capture {capture.id}", "head"), Span(f"  {words.format_local_time(capture.started)}{command}"))


def _compute_nesting_depths(calls: Iterable[CallRow], before: Mapping[int, int]) -> dict[int, int]:
    """The nesting depth of each shown call; `before` has the depths of the previous page."""
    depth: dict[int, int] = {}
    for call in calls:
        outer = -1 if call.parent is None else depth.get(call.parent, before.get(call.parent, -1))
        depth[call.id] = outer + 1
    return depth


def _call_cells(call: CallRow, run: RepeatedCalls, position: int) -> tuple[str, str, str, str]:
    duration = words.format_duration(run.mean_durations[position])
    approximate = "~" if run.times > 1 and call.duration >= 0 else ""
    return (
        str(call.id),
        words.format_seconds(call.start),
        approximate + duration,
        truncate(make_printable(call.thread), _MAX_THREAD_WIDTH),
    )


def _repetition_marks(run: RepeatedCalls) -> list[str]:
    """The marks beside the calls of a run: the number of repetitions, and a bracket over its lines."""
    if run.times == 1:
        return [""] * len(run.calls)
    times = f"x {run.times:,}"
    if len(run.calls) == 1:
        return [times]
    return [f"{times} ┐", *[f"{'':{len(times)}} │"] * (len(run.calls) - 2), f"{'':{len(times)}} ┘"]


def _format_total_cells(totals: FunctionTotals, whole: int) -> tuple[str, ...]:
    measures = (totals.mean, totals.median, totals.p90, totals.p99, totals.longest)
    has_returned = totals.calls > totals.never_returned
    return (
        f"{100 * totals.self_time / whole:.1f}" if whole else "0.0",
        words.format_duration(totals.self_time) if has_returned else "",
        words.format_duration(totals.total) if has_returned else "never returned",
        f"{totals.calls:,}",
        f"{totals.errors:,}" if totals.errors else "",
        *(words.format_duration(measure) if has_returned else "" for measure in measures),
    )


def render_caller_lines(outward: Sequence[PythonLine], indent: int) -> Iterator[Line]:
    """The lines that led to the line of a row, nearest first; empty without `--all-lines`."""
    for line in outward:
        yield (Span(f"{'':{indent}}called from ", "dim"), *render_python_line(line, 0))


def render_hidden_rows_line(hidden: int, noun: str, clause: str = "", indent: int = 0) -> Iterator[Line]:
    """The number of hidden rows, and the option that shows them; no line if `hidden` is 0.

    `clause` follows the noun.
    """
    if hidden > 0:
        yield render_text_line(
            f"{'':{indent}}and {words.count(hidden, f'more {noun}')}{clause}: --limit 0 shows all.", "dim"
        )
