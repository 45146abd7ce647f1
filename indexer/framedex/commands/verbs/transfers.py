"""`framedex transfers`: the lines that move data between host and devices, and the implicit transfers among them."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.costs.transfers import rows_lines, sums_lines
from framedex.commands.output.documents import transfers_document

_NOTHING = "Nothing was moved in these captures. `framedex captures` lists those there are."
_NOTHING_IMPLICIT = "Nothing was moved but what the program asked for; `framedex transfers` shows that."


@click.command()
@click.option("--implicit", "only_implicit", is_flag=True, help="Only implicit transfers.")
@click.option("--all-lines", is_flag=True, help="Show one row per call path, with the lines that led to each line.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@capture_option
@json_option
@click.pass_obj
def transfers(
    index_path: Path | None,
    only_implicit: bool,
    all_lines: bool,
    limit: int,
    chosen: Chosen | None,
    as_json: bool,
) -> None:
    """Show lines that copy data between host and device.

    A row is a line, a direction and a cause; most bytes come first. A transfer is implicit if
    `jax.transfer_guard("disallow")` would stop it: an operand on the host, float(x), print(x), np.asarray(x).
    jax.device_put and jax.device_get are explicit. An array on several devices counts as one copy per device.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.captures_with_transfers()) as (index, answer):
        found = index.transfers(all_lines=all_lines)
    rows = [row for row in found if row.is_implicit or not only_implicit]
    if as_json:
        print_json(transfers_document(answer, rows[:limit] if limit else rows))
    else:
        note_what_is_missing(*answer.captures)
        print_lines([heading(answer), *sums_lines(found), *(rows_lines(rows, limit) if rows else ())])
    if not rows:
        nothing_found(_NOTHING_IMPLICIT if found else _NOTHING)
