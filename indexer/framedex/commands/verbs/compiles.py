"""`framedex compiles`: which lines of the program compile, how long that takes, and why it is done again."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.costs.compiles import compiles_lines
from framedex.commands.output.documents import compiles_document
from framedex.commands.reading.known import note_what_is_missing
from framedex.commands.reading.scope import Chosen, capture_option, heading, index_of_whole_runs


@click.command()
@click.option(
    "--all-lines", is_flag=True, help="Also the lines of the program that led to each line, and a row for each way."
)
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="At most N rows; 0: all.")
@capture_option
@json_option
@click.pass_obj
def compiles(index_path: Path | None, all_lines: bool, limit: int, chosen: Chosen | None, as_json: bool) -> None:
    """Show which lines compile, how long, and what changed.

    A row is a line of the program and a function that it had compiled, what took longest first. Below it stands what is
    other than in the compilation of that function before: shapes, dtypes, shardings, donation, constants, code, or
    nothing. Arguments count as the program has them: the leaves of trees, without those that it does not use. `loads`
    came out of a compilation cache.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.captures_with_compiles()) as (index, answer):
        rows = index.compiles(all_lines=all_lines)
    if as_json:
        print_json(compiles_document(answer, rows[:limit] if limit else rows))
    else:
        note_what_is_missing(*answer.captures)
        print_lines([heading(answer), *(compiles_lines(rows, limit) if rows else ())])
    if not rows:
        nothing_found("Nothing was compiled in these captures. `framedex captures` lists those there are.")
