"""`framedex hang`: why a process hangs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from framedex.commands.inputs.processes import find_process
from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.render_live import render_diagnosis_lines
from framedex.commands.output.terminal import Line, render_text_line
from framedex.live.targets import find_target_of_capture

if TYPE_CHECKING:
    from framedex.fleet.running.reports import JobReport
    from framedex.fleet.running.states import RunningJob
    from framedex.live.diagnosis import Diagnosis
    from framedex.live.model import ProcessSnapshot


@click.command()
@click.argument("process", metavar="[PID|CAPTURE|JOB]", required=False)
@click.option(
    "--between",
    type=click.FloatRange(min=0.01),
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Time between the two observations that distinguish a hang from progress.",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Call it a hang if all threads wait and this time has passed without a call.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 if the process hangs, or ranks of the job wait.")
@json_option
@click.pass_context
def hang(
    ctx: click.Context, process: str | None, between: float, patience: float, exit_code: bool, as_json: bool
) -> None:
    """Explain why a process hangs, with the line of the cause.

    PID is a process, recorded or not; CAPTURE is a capture or a folder of captures. Default: this folder's newest
    recording of a running process, otherwise its newest recording. If that is a rank of a job, the default is the job.
    `hang` needs no index. JOB is a folder with captures of several ranks. `hang` finds the rank that the others wait
    for, like `ranks`, and explains why that rank does not continue.

    `hang` observes the process twice. New calls between the observations are progress. Without progress, it traces the
    waits from the main thread to their cause: a lock, the GIL, a callback, a queue, a device. A thread that computes,
    sleeps or waits for input does not count as a hang, unless it keeps the GIL from other threads. A hung child
    process counts as a hang, and so does a full pipe that nobody else reads.
    """
    from framedex.live.child_processes import observe_with_children
    from framedex.live.diagnosis import Verdict

    target, job = find_process(process)
    report = _job_report(job, patience) if job is not None else None
    targets = [target] if report is None else [find_target_of_capture(each.capture) for each in report.suspects]
    found = observe_with_children(targets, between, patience)
    if as_json:
        print_json(_build_hang_document(report, found))
    else:
        print_lines(_render_hang_lines(report, found))
    is_hang = any(diagnosis.verdict is Verdict.HANG for diagnosis, _ in found)
    if exit_code and (is_hang or (report is not None and report.has_waits)):
        ctx.exit(1)


def _job_report(job: RunningJob, patience: float) -> JobReport:
    from framedex.fleet.running.reports import report_job

    return report_job(job, patience)


def _render_hang_lines(report: JobReport | None, found: Sequence[tuple[Diagnosis, ProcessSnapshot]]) -> Iterator[Line]:
    if report is None:
        yield from render_diagnosis_lines(*found[0])
        return
    from framedex.commands.output.render_ranks import render_job_lines

    yield from render_job_lines(report)
    for state, each in zip(report.suspects, found, strict=True):
        yield ()
        yield render_text_line(f"rank {state.rank}", "head")
        yield from render_diagnosis_lines(*each)


def _build_hang_document(
    report: JobReport | None, found: Sequence[tuple[Diagnosis, ProcessSnapshot]]
) -> dict[str, Any]:
    from framedex.live.documents import build_diagnosis_document

    documents = [build_diagnosis_document(*each) for each in found]
    if report is None:
        return documents[0]
    ranks = zip(report.suspects, documents, strict=True)
    return report.document() | {"diagnoses": [{"rank": each.rank, "diagnosis": document} for each, document in ranks]}
