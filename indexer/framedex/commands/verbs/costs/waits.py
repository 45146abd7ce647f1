"""`framedex waits`: the lines that wait for the runtime, and the steps of loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.output.console import exit_nothing_found, json_option, print_json, print_lines
from framedex.commands.output.documents import build_waits_document
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_calls import render_caller_lines, render_hidden_rows_line, render_python_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.model import PARTS_OF_STEPS

if TYPE_CHECKING:
    from framedex.model import Loop, LoopStep, Waits, WaitsAndLoops

_NOTHING_FOUND = (
    "No waits and no loops in these captures. Captures that are still growing get theirs when they are complete."
)


@click.command()
@capture_option
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N lines; 0: all."
)
@click.option("--all-lines", is_flag=True, help="Show the lines that led to each line.")
@json_option
@click.pass_obj
def waits(
    index_path: Path | None, selection: CaptureSelection | None, limit: int, all_lines: bool, as_json: bool
) -> None:
    """Show lines that wait for the device, and loop steps.

    A thread waits while it is blocked: for a result (`block_until_ready`), for a copy to the host (`float(x)`,
    `np.asarray(x)`), or in a call that runs a program when its queue is full. A wait without a recorded end has an
    unknown duration. Loops are `for` and `while` statements of the program. Each iteration shows its thread's time in
    compilation, dispatch, transfers, waits and the rest.
    """
    with open_whole_runs(index_path, selection, lambda index: index.captures_with_waits()) as (index, answer):
        found = index.waits(all_lines=all_lines)
    if as_json:
        print_json(build_waits_document(answer, found, limit))
    else:
        note_incomplete_captures(*answer.captures)
        print_lines(
            [render_heading_line(answer, has_device_times=True), (), *render_waits_lines(found, limit)]
            if found.recorded or found.ended_by
            else [render_heading_line(answer, has_device_times=True)]
        )
    if not (found.lines or found.loops or found.unseen or found.ended_by):
        exit_nothing_found(_NOTHING_FOUND)


_HEADS = ("time", "%", "waits", "longest", "for", "thread")
_NUMBERS = 4  # the first columns, which are right-aligned
_MAX_STEPS = 8  # steps printed of the longest loop
_MAX_LOOPS = 5
_PARTS = (*PARTS_OF_STEPS, "own")
_UNSEEN_NOTE = "It may have waited unseen, as in jax.effects_barrier."


def render_waits_lines(waiting: WaitsAndLoops, limit: int) -> Iterator[Line]:
    """The first `limit` lines with waits (0: all), and the loops, the first with its iterations."""
    yield from _render_summary_lines(waiting)
    if waiting.lines:
        yield ()
        yield from _render_table_lines(waiting.lines[: limit or None], waiting.recorded)
        yield from render_hidden_rows_line(len(waiting.lines) - limit if limit else 0, "line")
    loops = waiting.loops[: _MAX_LOOPS if limit else None]
    for position, loop in enumerate(loops):
        yield ()
        yield from _render_loop_lines(loop)
        if position == 0 or not limit:
            yield from _render_step_lines(loop, min(limit, _MAX_STEPS))
    yield from render_hidden_rows_line(len(waiting.loops) - len(loops), "loop")


def _render_summary_lines(waiting: WaitsAndLoops) -> Iterator[Line]:
    unended = sum(row.unended for row in waiting.lines)
    at_least = "at least " if unended or waiting.unseen or waiting.ended_by else ""
    duration = words.format_duration(sum(row.total_duration for row in waiting.lines))
    waited = f"Python waited {at_least}{duration} for the runtime"
    if not waiting.lines and waiting.unseen:
        waited = "Calls show no wait for the runtime"
    ran = ""
    if waiting.device is not None:
        share = 100 * waiting.device / max(waiting.recorded, 1)
        ran = f", and in {words.format_duration(waiting.device)} of it ({share:.0f} %) programs were running"
    text = f"{waited}. {words.format_duration(waiting.recorded)} were recorded{ran}."
    yield render_text_line(text)
    if unended:
        text = f"{words.count(unended, 'wait')} had not ended when the recording ended: the duration is unknown."
        yield render_text_line(text, "error")
    if waiting.ended_by:
        signals = ", ".join(dict.fromkeys(waiting.ended_by))
        text = f"Unknown: {signals} ended the program. Waits after the last call of a thread are not recorded."
        yield render_text_line(text, "error")
    if waiting.unseen:
        spent = f"{words.format_duration(waiting.unseen)} ({words.count(waiting.unseen_times, 'time')})"
        gap = "a thread made no call until its program, or the recording, had ended"
        text = f"Unknown: for {spent} {gap}. {_UNSEEN_NOTE} The longest: "
        yield (Span(text), Span(build_trace_command(waiting.unseen_call), "dim", is_unbreakable=True))


def _render_table_lines(rows: Sequence[Waits], recorded: int) -> Iterator[Line]:
    columns = len(_HEADS) if len({row.thread for row in rows}) > 1 else len(_HEADS) - 1
    heads, *cells = (each[:columns] for each in (_HEADS, *(_format_row_cells(row, recorded) for row in rows)))
    widths = measure_columns(heads, *cells)
    yield (Span(f"{format_row(heads, widths, _NUMBERS)}  line", "dim"),)
    for row, row_cells in zip(rows, cells, strict=True):
        before = f"{format_row(row_cells, widths, _NUMBERS)}  "
        yield (
            Span(before),
            *render_python_line(row.line, 0),
            Span("  "),
            Span(build_trace_command(row.longest_call), "dim", is_unbreakable=True),
        )
        below = len(before) + 2
        yield from render_caller_lines(row.outward, below)
        if row.longest_run is not None and row.dispatched_in not in (None, row.line):
            of_wait = "the longest " if row.count > 1 else ""
            text = f"{of_wait}for {row.longest_event or 'the result'} of the program dispatched in "
            trace = (Span("  "), Span(build_trace_command(row.longest_run), "dim", is_unbreakable=True))
            yield (Span(f"{'':{below}}{text}", "dim"), *render_python_line(row.dispatched_in, 0), *trace)
        if row.unsure:
            reason = "measured until the thread's next call, because the end of the wait is unknown"
            yield render_text_line(f"{'':{below}}{row.unsure:,} of them {reason}", "dim")
        if row.unended:
            reason = "had not ended when the recording ended: at least until then"
            yield render_text_line(f"{'':{below}}{row.unended:,} of them {reason}", "error")


def _format_row_cells(row: Waits, recorded: int) -> tuple[str, ...]:
    return (
        f"{'> ' * bool(row.unended)}{words.format_duration(row.total_duration)}",
        f"{100 * row.total_duration / max(recorded, 1):.0f}",
        f"{row.count:,}",
        f"{'> ' * bool(row.unended)}{words.format_duration(row.longest_duration)}",
        row.how.value,
        make_printable(row.thread),
    )


def _render_loop_lines(loop: Loop) -> Iterator[Line]:
    yield (Span(f"Loop of {loop.rounds:,} iterations  ", "head"), *render_python_line(loop.line, 0))
    parts = [f"{name} {words.format_duration(spent)}" for name in _PARTS if (spent := getattr(loop, name))]
    median = f"{words.format_duration(loop.median_duration)} an iteration (median)"
    yield render_text_line(
        f"  {words.format_duration(loop.duration)}, {median}: {', '.join(parts)}; thread {make_printable(loop.thread)}"
    )


def _render_step_lines(loop: Loop, limit: int) -> Iterator[Line]:
    shown = loop.steps
    if limit and len(shown) > limit:
        longest = sorted(shown, key=lambda step: -step.duration)[:limit]
        shown = tuple(sorted(longest, key=lambda step: step.number))
    heads = ("iteration", "at", "time", *_PARTS, "first call")
    cells = [_format_step_cells(step) for step in shown]
    widths = measure_columns(heads, *cells)
    yield (Span(f"  {format_row(heads, widths)}", "dim"),)
    for row in cells:
        yield render_text_line(f"  {format_row(row, widths)}")
    if len(shown) < loop.rounds:
        text = f"  These are the longest of {loop.rounds:,} iterations"
        yield render_text_line(f"{text}; --limit 0 shows more." if len(shown) < len(loop.steps) else f"{text}.", "dim")


def _format_step_cells(step: LoopStep) -> tuple[str, ...]:
    parts = [words.format_duration(spent) if (spent := getattr(step, name)) else "-" for name in _PARTS]
    at = f"{words.format_seconds(step.start)} s"
    return (str(step.number), at, words.format_duration(step.duration), *parts, str(step.first_call))
