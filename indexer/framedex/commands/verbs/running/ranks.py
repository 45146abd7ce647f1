"""`framedex ranks`: the ranks of a job that runs, hangs or was killed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.captures.folders import project_captures_folder
from framedex.commands.inputs.files import working_folder
from framedex.commands.output.console import json_option, print_json, print_lines

if TYPE_CHECKING:
    from framedex.fleet.running.states import RunningJob
    from framedex.fleet.running.verdicts import JobDiagnosis
    from framedex.live.model import LiveFrame

_NS_PER_S = 1_000_000_000


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
    """Say which rank the others of a job wait for, and its line.

    FOLDER has the captures of all ranks, such as a folder on shared storage. Default: .framedex/captures. The job may
    run, hang, or have been killed: it is only read, and needs no index.

    A rank has arrived if it waits in a call of the runtime, or for a result. Ranks that have not arrived while others
    wait are absent. It also reports ranks without a capture, ranks that ended before, and ranks that wait at another
    line than most.
    """
    from framedex.fleet.running.states import read_job
    from framedex.fleet.running.verdicts import RankVerdict, diagnose_job

    here = working_folder()
    found = read_job([here / each for each in folders] or [project_captures_folder(here)], job)
    diagnosis = diagnose_job(found, round(patience * _NS_PER_S))
    now, last = _find_lines(found, diagnosis)
    if as_json:
        print_json(_document(found, diagnosis, now, last))
    else:
        from framedex.commands.output.render_ranks import job_lines

        print_lines(job_lines(found, diagnosis, now, last))
    if exit_code and diagnosis.verdict is not RankVerdict.RUNNING:
        ctx.exit(1)


_Places = dict[int, tuple["LiveFrame | None", str]]


def _find_lines(job: RunningJob, diagnosis: JobDiagnosis) -> tuple[_Places, _Places]:
    """The current lines of the first blamed ranks, and the lines of the last calls of those whose line is unknown."""
    from framedex.commands.output.render_ranks import MAX_LINES
    from framedex.fleet.running.lines import line_now, line_of_last_call

    blamed = [each for each in job.ranks if each.rank in diagnosis.blamed][:MAX_LINES]
    now = {each.rank: line_now(each) for each in blamed}
    last = {each.rank: line_of_last_call(each.capture) for each in blamed if now[each.rank][0] is None}
    return now, last


def _document(job: RunningJob, diagnosis: JobDiagnosis, now: _Places, last: _Places) -> dict[str, Any]:
    document = asdict(job)
    for each, state in zip(document["ranks"], job.ranks, strict=True):
        each["capture"] = str(state.capture)
        for key, places in (("line_now", now), ("line_of_last_call", last)):
            line = places.get(state.rank, (None, ""))[0]
            each[key] = asdict(line) if line is not None else None
    return document | asdict(diagnosis)
