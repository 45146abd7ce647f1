"""Waits of Python for the runtime, and the steps of loops, as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.costs.rows import called_from, rest_line
from framedex.commands.output.proposals import trace_command
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.model import PARTS_OF_STEPS
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.model import Loop, LoopStep, Waiting, Waits

_HEADS = ("time", "%", "waits", "longest", "for", "thread")
_NUMBERS = 4  # the first columns, which are right-aligned
_MOST_STEPS = 8  # rounds shown of the loop with the longest duration
_MOST_LOOPS = 5
_PARTS = (*PARTS_OF_STEPS, "own")
_UNSEEN = "It may have waited unseen, as in jax.effects_barrier."


def waits_lines(waiting: Waiting, limit: int) -> Iterator[Line]:
    """The first `limit` lines with waits, and the loops with the steps of the first one (0: all)."""
    yield from _sums(waiting)
    if waiting.lines:
        yield ()
        yield from _table(waiting.lines[: limit or None], waiting.recorded)
        yield from rest_line(len(waiting.lines) - limit if limit else 0, "line")
    loops = waiting.loops[: _MOST_LOOPS if limit else None]
    for place, loop in enumerate(loops):
        yield ()
        yield from _loop(loop)
        if place == 0 or not limit:
            yield from _steps(loop, min(limit, _MOST_STEPS))
    yield from rest_line(len(waiting.loops) - len(loops), "loop")


def _sums(waiting: Waiting) -> Iterator[Line]:
    unended = sum(row.unended for row in waiting.lines)
    at_least = "at least " if unended or waiting.unseen or waiting.ended_by else ""
    waited = (
        f"Python waited {at_least}{words.duration(sum(row.total_duration for row in waiting.lines))} for the runtime"
    )
    if not waiting.lines and waiting.unseen:
        waited = "Calls show no wait for the runtime"
    ran = ""
    if waiting.device is not None:
        share = 100 * waiting.device / max(waiting.recorded, 1)
        ran = f", and in {words.duration(waiting.device)} of it ({share:.0f} %) programs were under way"
    text = f"{waited}. {words.duration(waiting.recorded)} were recorded{ran}."
    yield text_line(text)
    if unended:
        text = f"{words.count(unended, 'wait')} had not ended when the recording ended: the duration is unknown."
        yield text_line(text, "error")
    if waiting.ended_by:
        signals = ", ".join(dict.fromkeys(waiting.ended_by))
        text = f"Unknown: {signals} ended the program. Waits after the last call of a thread are not recorded."
        yield text_line(text, "error")
    if waiting.unseen:
        spent = f"{words.duration(waiting.unseen)} ({words.count(waiting.unseen_times, 'time')})"
        text = f"Unknown: for {spent} a thread made no call until its program had ended. {_UNSEEN} The longest: "
        yield (Span(text), Span(trace_command(waiting.unseen_call), "dim", whole=True))


def _table(rows: Sequence[Waits], recorded: int) -> Iterator[Line]:
    columns = len(_HEADS) if len({row.thread for row in rows}) > 1 else len(_HEADS) - 1
    heads, *cells = (each[:columns] for each in (_HEADS, *(_cells(row, recorded) for row in rows)))
    widths = column_widths(heads, *cells)
    yield (Span(f"{row_text(heads, widths, _NUMBERS)}  line", "dim"),)
    for row, of_row in zip(rows, cells, strict=True):
        before = f"{row_text(of_row, widths, _NUMBERS)}  "
        yield (
            Span(before),
            *python_line(row.line, 0),
            Span("  "),
            Span(trace_command(row.longest_call), "dim", whole=True),
        )
        below = len(before) + 2
        yield from called_from(row.outward, below)
        if row.unsure:
            told = "until the thread's next call, as nothing tells when it was there"
            yield text_line(f"{'':{below}}{row.unsure:,} of them {told}", "dim")
        if row.unended:
            told = "had not ended when the recording ended: at least until its last call"
            yield text_line(f"{'':{below}}{row.unended:,} of them {told}", "error")


def _cells(row: Waits, recorded: int) -> tuple[str, ...]:
    return (
        f"{'> ' * bool(row.unended)}{words.duration(row.total_duration)}",
        f"{100 * row.total_duration / max(recorded, 1):.0f}",
        f"{row.count:,}",
        f"{'> ' * bool(row.unended)}{words.duration(row.longest_duration)}",
        row.how.value,
        printable(row.thread),
    )


def _loop(loop: Loop) -> Iterator[Line]:
    yield (Span(f"Loop of {loop.rounds:,} rounds  ", "head"), *python_line(loop.line, 0))
    parts = [f"{name} {words.duration(spent)}" for name in _PARTS if (spent := getattr(loop, name))]
    median = f"{words.duration(loop.median_duration)} a round (median)"
    yield text_line(f"  {words.duration(loop.duration)}, {median}: {', '.join(parts)}; thread {printable(loop.thread)}")


def _steps(loop: Loop, limit: int) -> Iterator[Line]:
    shown = loop.steps
    if limit and len(shown) > limit:
        longest = sorted(shown, key=lambda step: -step.duration)[:limit]
        shown = tuple(sorted(longest, key=lambda step: step.number))
    heads = ("round", "at", "time", *_PARTS, "first call")
    cells = [_step(step) for step in shown]
    widths = column_widths(heads, *cells)
    yield (Span(f"  {row_text(heads, widths)}", "dim"),)
    for row in cells:
        yield text_line(f"  {row_text(row, widths)}")
    if len(shown) < loop.rounds:
        text = f"  These are the longest of {loop.rounds:,} rounds"
        yield text_line(f"{text}; --limit 0 shows more." if len(shown) < len(loop.steps) else f"{text}.", "dim")


def _step(step: LoopStep) -> tuple[str, ...]:
    parts = [words.duration(spent) if (spent := getattr(step, name)) else "-" for name in _PARTS]
    at = f"{words.seconds(step.start)} s"
    return (str(step.number), at, words.duration(step.duration), *parts, str(step.first_call))
