"""`framedex ranks`: the ranks of a job that runs, hangs or was killed."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.captures.folders import project_captures_folder
from framedex.commands.inputs.files import working_folder
from framedex.commands.output.console import json_option, print_json, print_lines


@click.command()
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--job", metavar="NAME", help="The job. Default: the newest one in these folders.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Count a wait only after this time.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 if ranks wait for others.")
@json_option
@click.pass_context
def ranks(
    ctx: click.Context, folders: tuple[Path, ...], job: str | None, patience: float, exit_code: bool, as_json: bool
) -> None:
    """Find the rank that the others of a job wait for, and its line.

    FOLDER has the captures of all ranks, such as a folder on shared storage. Default: .framedex/captures. The job may
    be running, hung or killed. `ranks` only reads it, and needs no index.

    A rank has arrived if it waits in a call of the runtime, or for a result. Ranks that have not arrived while others
    wait are absent. It also reports ranks without a capture, ranks that ended before, and ranks that wait at a
    different line from most.
    """
    from framedex.fleet.running.reports import report_job
    from framedex.fleet.running.states import read_job

    here = working_folder()
    found = read_job([here / each for each in folders] or [project_captures_folder(here)], job)
    report = report_job(found, patience)
    if as_json:
        print_json(report.document())
    else:
        from framedex.commands.output.render_ranks import render_job_lines

        print_lines(render_job_lines(report))
    if exit_code and report.has_waits:
        ctx.exit(1)
