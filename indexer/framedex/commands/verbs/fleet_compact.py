"""`framedex fleet compact`: merge many small files of a store into few large ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.fleet import store_option
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.terminal import text_line

if TYPE_CHECKING:
    from framedex.fleet.compacting import Compacted


@click.command("compact")
@store_option
@json_option
@click.pass_context
def compact_fleet(ctx: click.Context, store: str, as_json: bool) -> None:
    """Merge the small files of each day and job.

    Answers do not change, and captures may be added meanwhile. Unused files are deleted one hour later, by the next
    compact or drop, so that running readers can finish. You can interrupt it and run it again. A day and job with
    missing files is reported and left alone.
    """
    from framedex.commands.output.bars import progress_on_terminal
    from framedex.fleet.compacting import compact
    from framedex.fleet.place import Place

    with progress_on_terminal() as progress:
        done = compact(Place(store), progress)
    for error in done.left:
        print_error(error)
    if as_json:
        left = [{"problem": error.message, "remedy": error.remedy} for error in done.left]
        print_json({"store": store, **asdict(done), "left": left})
    else:
        _tell(done)
    if done.left:
        ctx.exit(1)


def _tell(done: Compacted) -> None:
    were = "" if done.parts == done.parts_before else f", which were in {done.parts_before:,}"
    print_lines(
        [text_line(f"{words.count(done.captures, 'capture')} in {words.count(done.parts, 'part')}{were}", "head")]
    )
    swept = done.swept
    if swept.files:
        note(f"Removed {words.count(swept.files, 'file')} with {words.size(swept.size)}.")
    if swept.waiting:
        note(f"{words.count(swept.waiting, 'file')} may go in an hour: compact again then.")
    for said in swept.left_out:
        note(said)
