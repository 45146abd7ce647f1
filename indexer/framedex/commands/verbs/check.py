"""`framedex check`: what a capture shows to be wrong."""

from __future__ import annotations

import click

from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import check_document
from framedex.commands.output.render_check import check_lines
from framedex.commands.reading.choices import Choice
from framedex.commands.reading.known import chosen_capture, open_index
from framedex.model import Severity
from framedex.objects import ViolationKind

_KINDS = ["error", "never-returned", "unimplemented", "leak", "alive", *(kind.value for kind in ViolationKind)]


@click.command()
@click.option("--capture", type=int, metavar="ID", help="The capture (see `framedex captures`). Default: the latest.")
@click.option("--only", multiple=True, type=Choice(_KINDS), help="Only findings of this kind; may be repeated.")
@click.option("--ignore", multiple=True, type=Choice(_KINDS), help="No findings of this kind; may be repeated.")
@click.option(
    "--exit-code", is_flag=True, help="End with status 1 if there is any finding but notes, or calls are missing."
)
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    capture: int | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    exit_code: bool,
    as_json: bool,
) -> None:
    """Show what a capture tells to be wrong.

    Errors that came back, functions that are not implemented, calls that never returned, objects that were not
    destroyed or were used wrongly. Findings that are the same are shown once, with a call for `framedex trace`.
    """
    with open_index(ctx.obj) as index:
        found = index.capture(chosen_capture(index, capture).id).check()
    findings = [each for each in found.findings if each.kind not in ignore and (not only or each.kind in only)]
    if as_json:
        print_json(check_document(found, findings))
    else:
        print_lines(check_lines(found.capture, findings))
        for reason in found.unjudged:
            note(reason)
        if not findings:
            note("Nothing is wrong with these calls, as far as they tell.")
    if exit_code and (found.capture.stops or any(each.severity is not Severity.NOTE for each in findings)):
        ctx.exit(1)
