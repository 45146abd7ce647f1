"""`framedex calls`: the calls of the framework into the runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex import words
from framedex.commands.inputs.choices import Choice
from framedex.commands.inputs.filters import filter_options, nothing_passes
from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, heading, index_of_whole_runs
from framedex.commands.output.bars import is_output_seen
from framedex.commands.output.console import json_option, note, nothing_found, print_json_list, print_lines
from framedex.commands.output.documents import answer_document, call_documents
from framedex.commands.output.render_calls import call_lines, python_line
from framedex.commands.output.repetition import runs, singly
from framedex.commands.output.terminal import Terminal
from framedex.model import CallFilter
from framedex.progress import Silence

if TYPE_CHECKING:
    from framedex.commands.output.render_calls import Below
    from framedex.commands.output.repetition import Run
    from framedex.commands.output.terminal import Line
    from framedex.index import Index
    from framedex.model import CallRow

_AT_ONCE = 5_000  # calls or runs whose objects are named in one query
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
    wanted: CallFilter,
    chosen: Chosen | None,
    stack: str | None,
    show_all: bool,
    group: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List recorded calls by time, with arguments and results.

    Default: programs (compiled, loaded, run), transfers, FFI handlers and errors. --all, --json and every filter
    except --capture also list queries, waits and clean-up. An object keeps its name for its life, such as buffer#12,
    whatever its address. A nested call is indented below its caller. `framedex trace ID` shows the stack of a call.
    """
    if group and as_json:
        raise click.UsageError("--group cannot be combined with --json, which has every call.")
    with index_of_whole_runs(index_path, chosen) as (index, answer):
        captures = answer.captures
        shown = _Shown()
        total = index.calls.count(wanted)
        others = 0
        if not show_all and not as_json and wanted == CallFilter():
            works = index.calls.count(replace(wanted, works_only=True))
            if works:  # otherwise there are only queries, waits and destructors
                wanted, total, others = replace(wanted, works_only=True), works, total - works
        if (not limit or limit > _AT_ONCE) and is_output_seen():
            index.tell(Silence())
        found = shown.noted(_latest(index, wanted, limit))
        if as_json:
            document = {**answer_document(answer), "total": total}
            print_json_list(document, "calls", _documents(index, found, with_lines=bool(stack)))
            _end_unless_found(index, shown.count, wanted)
            return
        grouped = _named(index, runs(found) if group else singly(found))
        below = _stacks(index, stack, Terminal.of_stdout().width) if stack else None
        print_lines(chain([heading(answer)], call_lines(grouped, captures, Terminal.of_stdout().width, below)))
        note_what_is_missing(*(capture for capture in captures if capture.id in shown.captures))
        _end_unless_found(index, shown.count, wanted)
    if total > shown.count:
        what = "programs, transfers and errors" if others else "calls"
        note(f"The latest {shown.count:,} of {total:,} {what}; --limit 0 shows them all.")
    if others:
        note(f"Without {words.count(others, 'other call')} (queries, waits and destructors); --all shows them.")


def _latest(index: Index, wanted: CallFilter, limit: int) -> Iterable[CallRow]:
    """The latest `limit` calls (0: all) that pass the filter, by their start; a large limit is read lazily."""
    if 0 < limit <= _AT_ONCE:
        return index.calls.find(wanted, limit)
    return index.calls.each(wanted, limit or None)


def _end_unless_found(index: Index, count: int, wanted: CallFilter) -> None:
    if not count:
        nothing_found(nothing_passes(index, wanted))


@dataclass(slots=True)
class _Shown:
    """The shown calls: their number and their captures."""

    count: int = 0
    captures: set[int] = field(default_factory=set)

    def noted(self, calls: Iterable[CallRow]) -> Iterator[CallRow]:
        """Yield the calls, and note each one."""
        for call in calls:
            self.count += 1
            self.captures.add(call.capture)
            yield call


def _documents(index: Index, calls: Iterator[CallRow], *, with_lines: bool) -> Iterator[dict[str, Any]]:
    while some := list(islice(calls, _AT_ONCE)):
        lines = index.calls.python_lines(some) if with_lines else None
        yield from call_documents(index.calls.named(some), lines)


def _named(index: Index, grouped: Iterator[Run]) -> Iterator[Run]:
    while some := list(islice(grouped, _AT_ONCE)):
        named = iter(index.calls.named([call for run in some for call in run.calls]))
        yield from (replace(run, calls=tuple(islice(named, len(run.calls)))) for run in some)


def _stacks(index: Index, stack: str, width: int | None) -> Below:
    """The lines below a call: its Python line, or every frame of its stack."""
    if stack == "line":
        return lambda calls: _lines_below(index, calls)

    from framedex.commands.output.render_trace import dispatch_lines, folded_frames  # a log shows no stacks

    def frames(call: CallRow) -> Iterable[Line]:
        trace = index.calls.trace(call.id)
        assert trace is not None
        for section in trace.own_sections():
            yield from folded_frames(section.frames, width)
        yield from dispatch_lines(trace, folded_frames, width)
        yield ()

    return lambda _calls: frames


def _lines_below(index: Index, calls: Sequence[CallRow]) -> Callable[[CallRow], Iterable[Line]]:
    lines = index.calls.python_lines(calls)
    return lambda call: (python_line(lines.get(call.id), _INDENT),)
