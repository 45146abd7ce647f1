"""`framedex compiles`: the lines that compile, their compile times, and the reasons for recompiling."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.costs.compiles import compiles_lines
from framedex.commands.output.documents import compiles_document


@click.command()
@click.option("--all-lines", is_flag=True, help="Show one row per call path, with the lines that led to each line.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@capture_option
@json_option
@click.pass_obj
def compiles(index_path: Path | None, all_lines: bool, limit: int, chosen: Chosen | None, as_json: bool) -> None:
    """Show lines that compile, and what changed.

    A row is a line and a function that it compiled; the longest total comes first. Below the row is the difference
    from the previous compilation of that function: shapes, dtypes, shardings, donation, constants or code. Arguments
    are leaves of pytrees; unused arguments are left out. `loads` came from a compilation cache.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.captures_with_compiles()) as (index, answer):
        rows = index.compiles(all_lines=all_lines)
    if as_json:
        print_json(compiles_document(answer, rows[:limit] if limit else rows))
    else:
        note_what_is_missing(*answer.captures)
        print_lines([heading(answer), *(compiles_lines(rows, limit) if rows else ())])
    if not rows:
        nothing_found("No compilations in these captures. `framedex captures` lists the captures.")
