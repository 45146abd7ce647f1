"""`framedex fleet ranks`: compare the ranks of a job."""

from __future__ import annotations

import click

from framedex.commands.inputs.fleet import store_option
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents_of_ranks import ranks_document
from framedex.commands.output.render_ranks import ranks_lines
from framedex.model import Severity

_MILLISECOND = 1_000_000  # ns


@click.command("ranks")
@click.argument("job", metavar="JOB")
@store_option
@click.option(
    "--floor",
    type=click.FloatRange(min=0),
    default=100,
    show_default=True,
    metavar="MS",
    help="Ignore delays below MS milliseconds: per step, or in total for a rank that is late in most steps.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 on any finding except notes.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N findings; 0: all."
)
@json_option
@click.pass_context
def ranks_of_fleet(
    ctx: click.Context, /, job: str, store: str, floor: float, exit_code: bool, limit: int, as_json: bool
) -> None:
    """Compare the ranks of a job and show the outliers.

    The comparison covers calls that compile, load or run programs or move data, by line of Python. It reports ranks
    with another shape or program, with additional, missing or reordered calls, with an early end, with errors, and
    missing ranks. With clocks aligned, it reports ranks that are late in some or most steps, and the line that is
    slow. Work that only rank 0 does is a note.
    """
    from framedex.fleet.asking import Asking
    from framedex.fleet.place import Place
    from framedex.fleet.ranks.comparing import compare

    with Asking(Place(store)) as asking:
        found = compare(asking, job, round(floor * _MILLISECOND))
        left_out = tuple(asking.left_out)
    if as_json:
        print_json(ranks_document(found, left_out))
    else:
        print_lines(ranks_lines(found, limit))
        for said in (*found.notes, *left_out):
            note(said)
        if not found.findings:
            note("The ranks do the same, as far as can be told.")
    if exit_code and any(each.severity is not Severity.NOTE for each in found.findings):
        ctx.exit(1)
