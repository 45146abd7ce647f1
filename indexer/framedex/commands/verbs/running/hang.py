"""`framedex hang`: why a process hangs."""

from __future__ import annotations

import time

import click

from framedex.commands.inputs.files import working_folder
from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.render_live import diagnosis_lines


@click.command()
@click.argument("process", metavar="[PID|CAPTURE]", required=False)
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
@click.option("--exit-code", is_flag=True, help="Exit with status 1 if the process hangs.")
@json_option
@click.pass_context
def hang(
    ctx: click.Context, process: str | None, between: float, patience: float, exit_code: bool, as_json: bool
) -> None:
    """Say why a process hangs, with the line of the cause.

    PID is a process, recorded or not; CAPTURE is a capture or a folder of captures. Default: the newest recording of
    this folder whose process lives, otherwise the newest one. It needs no index.

    It looks twice. New calls between the looks are progress. Otherwise it follows the waits from the main thread to
    their cause: a lock, the GIL, a callback, a queue, a device. A thread that computes, sleeps or waits for input does
    not count as a hang, unless it keeps the GIL from other threads.
    """
    from framedex.live.diagnosis import Verdict, diagnose
    from framedex.live.documents import diagnosis_document
    from framedex.live.look import look_at
    from framedex.live.targets import find_target

    target = find_target(process, working_folder())
    before = look_at(target)
    if before.may_continue:
        time.sleep(between)
    after = look_at(target)
    found = diagnose(before, after, patience)
    if as_json:
        print_json(diagnosis_document(found, after))
    else:
        print_lines(diagnosis_lines(found, after))
    if exit_code and found.verdict is Verdict.HANG:
        ctx.exit(1)
