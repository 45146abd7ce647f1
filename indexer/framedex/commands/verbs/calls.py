"""`framedex calls`: the conversation between the framework and the runtime, call by call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import calls_document
from framedex.commands.output.render_calls import call_lines, python_line
from framedex.commands.output.repetition import runs, singly
from framedex.commands.output.terminal import Terminal
from framedex.commands.reading.filters import filter_options
from framedex.commands.reading.known import check_capture_id, note_what_is_missing, open_index
from framedex.model import CallFilter

if TYPE_CHECKING:
    from framedex.commands.output.render_calls import Below
    from framedex.commands.output.repetition import Run
    from framedex.commands.output.terminal import Line
    from framedex.index import Index
    from framedex.model import CallRow

_INDENT = 8


@click.command()
@filter_options
@click.option(
    "--stack",
    type=click.Choice(["line", "full"]),
    help="Below each call the line of Python that led to it, or its whole merged stack.",
)
@click.option("--group", is_flag=True, help="Show repeated calls, and repeated sequences of calls, once.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="At most the latest N calls; 0: all."
)
@json_option
@click.pass_obj
def calls(
    index_path: Path | None, wanted: CallFilter, stack: str | None, group: bool, limit: int, as_json: bool
) -> None:
    """List recorded calls by time: function, arguments, and what it returned.

    Objects of the runtime have names that hold for their life, such as buffer#12, whatever address they had. A call
    made inside another is indented below it. Each id is one for `framedex trace`.
    """
    if group and as_json:
        raise click.UsageError("--group is for people; without it, --json has every call.")
    with open_index(index_path) as index:
        captures = index.captures()
        check_capture_id(captures, wanted.capture)
        found = index.calls.find(wanted, limit or None)
        total = index.calls.count(wanted)
        if as_json:
            lines = index.calls.python_lines(found) if stack else None
            print_json(calls_document(index.calls.named(found), total, lines))
            return
        shown = _named(index, list(runs(found)) if group else singly(found))
        width = Terminal.of_stdout().width
        below = _stacks(index, shown, stack, width) if stack else None
        print_lines(call_lines(shown, captures, width, below))
    of_shown = {call.capture for call in found}
    note_what_is_missing(*(capture for capture in captures if capture.id in of_shown))
    if not found:
        note("No call passes the filter." if wanted != CallFilter() else "The index holds no calls.")
    elif total > len(found):
        note(f"The latest {len(found):,} of {total:,} calls; --limit 0 shows all.")


def _named(index: Index, shown: Sequence[Run]) -> list[Run]:
    named = iter(index.calls.named([call for run in shown for call in run.calls]))
    return [replace(run, calls=tuple(islice(named, len(run.calls)))) for run in shown]


def _stacks(index: Index, shown: Sequence[Run], stack: str, width: int | None) -> Below:
    """What to print below a call: a line of Python, or every frame of the stack."""
    if stack == "line":
        lines = index.calls.python_lines(call for run in shown for call in run.calls)
        return lambda call: (python_line(lines.get(call.id), _INDENT),)

    from framedex.commands.output.render_trace import dispatch_lines, folded_frames  # a log shows no stacks

    def frames(call: CallRow) -> Iterable[Line]:
        trace = index.calls.trace(call.id)
        assert trace is not None
        for section in trace.own_sections():
            yield from folded_frames(section.frames, width)
        yield from dispatch_lines(trace, folded_frames, width)
        yield ()

    return frames
