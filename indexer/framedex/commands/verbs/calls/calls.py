"""`framedex calls`: the calls of the framework into the runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base import words
from framedex.base.progress import SilentProgress
from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import (
    CaptureSelection,
    explain_no_matches,
    filter_options,
    open_whole_runs,
    render_heading_line,
)
from framedex.commands.output.bars import is_output_live
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json_list, print_lines
from framedex.commands.output.documents import answer_document, call_documents
from framedex.commands.output.render_calls import build_single_runs, call_lines, find_runs, render_python_line
from framedex.commands.output.terminal import Terminal
from framedex.model import CallFilter

if TYPE_CHECKING:
    from framedex.commands.output.render_calls import NestedLines, RepeatedCalls
    from framedex.commands.output.terminal import Line
    from framedex.index import Index
    from framedex.model import CallRow

_BATCH_SIZE = 5_000  # calls or runs whose objects are named in one query
_INDENT = 8


@click.command()
@filter_options
@click.option(
    "--stack",
    type=Choice(["line", "full"]),
    help="Show the Python line of each call, or its whole stack.",
)
@click.option("--all", "show_all", is_flag=True, help="Include queries, waits and destructors.")
@click.option("--group", is_flag=True, help="Fold repeated calls and sequences of calls.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="Show the latest N calls; 0: all."
)
@json_option
@click.pass_obj
def calls(
    index_path: Path | None,
    call_filter: CallFilter,
    selection: CaptureSelection | None,
    stack: str | None,
    show_all: bool,
    group: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List recorded calls by time, with arguments and results.

    Default: programs (compiled, loaded, run), transfers, FFI handlers and errors. --all, --json and every filter except
    --capture also list queries, waits and clean-up. An object keeps its name, such as buffer#12, for its whole life,
    independent of its address. A nested call is indented below its caller. `framedex trace ID` shows the stack of a
    call.
    """
    if group and as_json:
        raise click.UsageError("--group does not work with --json, which has every call.")
    with open_whole_runs(index_path, selection) as (index, answer):
        captures = answer.captures
        shown = _PrintedCalls()
        total = index.calls.count(call_filter)
        hidden_calls = 0
        if not show_all and not as_json and call_filter == CallFilter():
            work_calls = index.calls.count(replace(call_filter, works_only=True))
            if work_calls:  # there are programs, transfers or errors, not only queries
                call_filter, total, hidden_calls = replace(call_filter, works_only=True), work_calls, total - work_calls
        if (not limit or limit > _BATCH_SIZE) and is_output_live():
            index.set_progress_listener(SilentProgress())
        found = shown.record(_find_latest_calls(index, call_filter, limit))
        if as_json:
            document = {**answer_document(answer), "total": total}
            print_json_list(document, "calls", _call_documents(index, found, with_lines=bool(stack)))
            _exit_if_empty(index, shown.count, call_filter)
            return
        grouped = _with_object_names(index, find_runs(found) if group else build_single_runs(found))
        below = _stack_lines_below(index, stack, Terminal.of_stdout().width) if stack else None
        print_lines(
            chain([render_heading_line(answer)], call_lines(grouped, captures, Terminal.of_stdout().width, below))
        )
        note_incomplete_captures(*(capture for capture in captures if capture.id in shown.captures))
        _exit_if_empty(index, shown.count, call_filter)
    if total > shown.count:
        noun = "programs, transfers and errors" if hidden_calls else "calls"
        note(f"The latest {shown.count:,} of {total:,} {noun}; --limit 0 shows them all.")
    if hidden_calls:
        note(f"{words.count(hidden_calls, 'other call')} not shown (queries, waits and destructors); --all shows them.")


def _find_latest_calls(index: Index, call_filter: CallFilter, limit: int) -> Iterable[CallRow]:
    """The latest `limit` calls (0: all) that pass the filter, by their start; a large limit is read lazily."""
    if 0 < limit <= _BATCH_SIZE:
        return index.calls.find(call_filter, limit)
    return index.calls.iterate(call_filter, limit or None)


def _exit_if_empty(index: Index, count: int, call_filter: CallFilter) -> None:
    if not count:
        exit_nothing_found(explain_no_matches(index, call_filter))


@dataclass(slots=True)
class _PrintedCalls:
    """Counts the calls that are printed, and collects their captures."""

    count: int = 0
    captures: set[int] = field(default_factory=set)

    def record(self, calls: Iterable[CallRow]) -> Iterator[CallRow]:
        """Yield the calls, and count each one."""
        for call in calls:
            self.count += 1
            self.captures.add(call.capture)
            yield call


def _call_documents(index: Index, calls: Iterator[CallRow], *, with_lines: bool) -> Iterator[dict[str, Any]]:
    while batch := list(islice(calls, _BATCH_SIZE)):
        lines = index.calls.python_lines(batch) if with_lines else None
        yield from call_documents(index.calls.with_object_names(batch), lines)


def _with_object_names(index: Index, grouped: Iterator[RepeatedCalls]) -> Iterator[RepeatedCalls]:
    while batch := list(islice(grouped, _BATCH_SIZE)):
        named = iter(index.calls.with_object_names([call for run in batch for call in run.calls]))
        yield from (replace(run, calls=tuple(islice(named, len(run.calls)))) for run in batch)


def _stack_lines_below(index: Index, stack: str, width: int | None) -> NestedLines:
    """A function that returns the lines below a call: its Python line, or every frame of its stack."""
    if stack == "line":
        return lambda calls: _python_line_of_call(index, calls)

    from framedex.commands.output.render_trace import dispatch_lines, render_folded_frames

    def frames(call: CallRow) -> Iterable[Line]:
        trace = index.calls.trace(call.id)
        assert trace is not None
        for section in trace.own_sections():
            yield from render_folded_frames(section.frames, width)
        yield from dispatch_lines(trace, render_folded_frames, width)
        yield ()

    return lambda _calls: frames


def _python_line_of_call(index: Index, calls: Sequence[CallRow]) -> Callable[[CallRow], Iterable[Line]]:
    lines = index.calls.python_lines(calls)
    return lambda call: (render_python_line(lines.get(call.id), _INDENT),)
