"""`framedex waits`: the lines that wait for the runtime, and the steps of loops."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.costs.waits import waits_lines
from framedex.commands.output.documents import waits_document

_NOTHING = (
    "These captures show no wait of Python for the runtime and no loop; captures that are still followed have none yet."
)


@click.command()
@capture_option
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N lines; 0: all."
)
@click.option("--all-lines", is_flag=True, help="Show the lines that led to each line.")
@json_option
@click.pass_obj
def waits(index_path: Path | None, chosen: Chosen | None, limit: int, all_lines: bool, as_json: bool) -> None:
    """Show lines that wait for the device, and loop steps.

    A thread waits while it is blocked: for a result (`block_until_ready`), for a copy to the host (`float(x)`,
    `np.asarray(x)`), or in a call that runs a program when its queue is full. A wait without a recorded end has an
    unknown duration. Loops are `for` and `while` statements of the program. Each round shows its thread's time in
    compilation, dispatch, transfers, waits and the rest.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.captures_with_waits()) as (index, answer):
        found = index.waits(all_lines=all_lines)
    if as_json:
        print_json(waits_document(answer, found, limit))
    else:
        note_what_is_missing(*answer.captures)
        print_lines(
            [heading(answer), (), *waits_lines(found, limit)] if found.recorded or found.ended_by else [heading(answer)]
        )
    if not (found.lines or found.loops or found.unseen or found.ended_by):
        nothing_found(_NOTHING)
