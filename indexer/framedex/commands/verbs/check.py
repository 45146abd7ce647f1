"""`framedex check`: what a capture shows to be wrong."""

from __future__ import annotations

import click

from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import check_document
from framedex.commands.output.render_calls import capture_heading
from framedex.commands.output.render_check import check_lines
from framedex.commands.reading.choices import Choice
from framedex.commands.reading.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.model import Severity
from framedex.objects import ViolationKind

_KINDS = ["error", "never-returned", "unimplemented", "leak", "alive", *(kind.value for kind in ViolationKind)]


@click.command()
@capture_option
@click.option("--only", multiple=True, type=Choice(_KINDS), help="Only findings of this kind; may be repeated.")
@click.option("--ignore", multiple=True, type=Choice(_KINDS), help="No findings of this kind; may be repeated.")
@click.option(
    "--exit-code", is_flag=True, help="End with status 1 if there is any finding but notes, or calls are missing."
)
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    chosen: Chosen | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    exit_code: bool,
    as_json: bool,
) -> None:
    """Show what captures tell to be wrong.

    Errors that came back, functions that are not implemented, calls that never returned, objects that were not
    destroyed or were used wrongly. Findings that are the same are shown once, with a call for `framedex trace`.
    """
    with index_of_whole_runs(ctx.obj, chosen) as (index, answer):
        checks = [index.capture(capture.id).check() for capture in answer.captures]
    found = [
        (check, [each for each in check.findings if each.kind not in ignore and (not only or each.kind in only)])
        for check in checks
    ]
    findings = [finding for _, of_capture in found for finding in of_capture]
    unjudged = list(dict.fromkeys(reason for check in checks for reason in check.unjudged))
    if as_json:
        print_json(check_document(answer, findings, unjudged))
    else:
        print_lines([heading(answer)])
        for check, of_capture in found:
            if len(found) > 1 and of_capture:
                print_lines([(), capture_heading(check.capture)])
            print_lines(check_lines(of_capture))
        for reason in unjudged:
            note(reason)
        if not findings:
            note("Nothing is wrong with these calls, as far as they tell.")
    is_wrong = any(each.severity is not Severity.NOTE for each in findings)
    if exit_code and (is_wrong or any(check.capture.stops for check in checks)):
        ctx.exit(1)
