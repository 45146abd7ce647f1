"""`framedex calls`: what was called, when, and with what."""

from __future__ import annotations

import re
from pathlib import Path

import click

from framedex.commands.console import json_option, note, open_index, print_json, print_lines
from framedex.commands.documents import calls_document
from framedex.commands.render import call_lines
from framedex.commands.terminal import Terminal
from framedex.errors import FramedexError
from framedex.model import CallFilter

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "": 1_000_000_000,
    "m": 60_000_000_000,
}


class Moment(click.ParamType[int]):
    """A time since the recording began: a number with a unit (`250us`, `1.5s`), seconds without one; given in ns."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The time in nanoseconds."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|)", str(value))
        if match is None:
            self.fail(f"'{value}' is no time; write it like 250us, 10ms, 1.5s or 2m.", param, ctx)
        return round(float(match[1]) * _UNITS[match[2]])


@click.command()
@click.option("--function", metavar="NAME", help="Only calls of this function; a part of its name is enough.")
@click.option("--thread", metavar="NAME", help="Only calls on threads of this name or id; `main`: the main thread.")
@click.option("--since", type=Moment(), help="Only calls that began at or after this time into the recording.")
@click.option("--until", type=Moment(), help="Only calls that began at or before this time into the recording.")
@click.option(
    "--through", metavar="TEXT", help="Only calls whose stack has a function or file with TEXT, or FILE:LINE."
)
@click.option("--errors", is_flag=True, help="Only calls that came back with an error.")
@click.option("--capture", type=int, metavar="ID", help="Only calls of this capture (see `framedex captures`).")
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="At most the latest N calls; 0: all."
)
@json_option
@click.pass_obj
def calls(
    index_path: Path | None,
    function: str | None,
    thread: str | None,
    since: int | None,
    until: int | None,
    through: str | None,
    errors: bool,
    capture: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List recorded calls by time."""
    wanted = CallFilter(capture, function, thread, since, until, through, errors)
    with open_index(index_path) as index:
        captures = index.captures()
        if capture is not None and all(row.id != capture for row in captures):
            raise FramedexError(f"There is no capture {capture} in the index.", "`framedex captures` lists them.")
        found = index.calls(wanted, limit or None)
        total = index.count_calls(wanted)
    if as_json:
        print_json(calls_document(found, total))
        return
    print_lines(call_lines(found, captures, Terminal.of_stdout().width))
    if not found:
        note("No call passes the filter." if wanted != CallFilter() else "The index holds no calls.")
    elif total > len(found):
        note(f"The latest {len(found):,} of {total:,} calls; --limit 0 shows all.")
