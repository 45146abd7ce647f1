"""`framedex check`: report problems in captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.budgets import CountBudget, chosen_budgets, judged
from framedex.commands.inputs.choices import Choice
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.inputs.unfinished import why_unfinished
from framedex.commands.launching.quantities import Bytes
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import check_document
from framedex.commands.output.render_calls import capture_heading
from framedex.commands.output.render_check import check_lines
from framedex.model import Metadata, Severity
from framedex.objects import ViolationKind

if TYPE_CHECKING:
    from framedex.budgets.model import Budget, Verdict
    from framedex.model import Check, Finding

_BUDGETS = ("compiles", "implicit-transfers", "memory")
_KINDS = [
    *(
        "error",
        "behaviour",
        "crash",
        "donation",
        "never-returned",
        "unimplemented",
        "leak",
        "alive",
        *(kind.value for kind in ViolationKind),
    ),
    *_BUDGETS,
]


@click.command()
@capture_option
@click.option("--only", multiple=True, type=Choice(_KINDS), help="Only findings of this kind. Repeatable.")
@click.option("--ignore", multiple=True, type=Choice(_KINDS), help="Ignore findings of this kind. Repeatable.")
@click.option(
    "--exit-code", is_flag=True, help="Exit with status 1 on any finding except notes, or if calls are missing."
)
@click.option(
    "--max-compiles",
    multiple=True,
    type=CountBudget("compiles"),
    metavar="[PATTERN=]N",
    help=(
        "At most N compilations of each function by a line (train.py:12, train.py:*), or of one function "
        "(step) by all lines. Repeatable: the last match counts."
    ),
)
@click.option(
    "--max-implicit-transfers",
    multiple=True,
    type=CountBudget("implicit-transfers"),
    metavar="[PATTERN=]N",
    help="At most N implicit transfers by a line or a Python function. Repeatable.",
)
@click.option(
    "--no-implicit-transfers",
    is_flag=True,
    help="Allow no implicit transfers, except where another budget allows them.",
)
@click.option("--max-memory", type=Bytes(), metavar="BYTES", help="At most this much live memory on a device: 2GiB.")
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    chosen: Chosen | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    exit_code: bool,
    max_compiles: tuple[Budget, ...],
    max_implicit_transfers: tuple[Budget, ...],
    no_implicit_transfers: bool,
    max_memory: int | None,
    as_json: bool,
) -> None:
    """Report errors, crashes, leaks and broken budgets.

    Findings: returned errors, crashes, unusable donations, unimplemented functions, calls that never returned,
    objects that were leaked or misused. Equal findings appear once, with the id of a call for `framedex trace`.

    Budgets (--max-compiles and the options after it) limit each process. Status 1: a budget is exceeded or matches
    nothing, or calls are missing. See docs/how-to/ci.md.
    """
    budgets = chosen_budgets(max_compiles, max_implicit_transfers, no_implicit_transfers, max_memory)
    with index_of_whole_runs(ctx.obj, chosen) as (index, answer):
        checks = [index.capture(capture.id).check() for capture in answer.captures]
        verdicts = judged(index, answer, budgets) if budgets else []
        unfinished = list(why_unfinished(index, answer.captures)) if budgets else []

    def is_shown(finding: Finding) -> bool:
        return finding.kind not in ignore and (not only or finding.kind in only)

    found = [(check, list(filter(is_shown, check.findings))) for check in checks]
    over = list(filter(is_shown, _over(verdicts)))
    findings = [*over, *(finding for _, of_capture in found for finding in of_capture)]
    left_out = list(_left_out(checks)) if budgets else []
    unjudged = list(dict.fromkeys([*unfinished, *left_out, *(reason for check in checks for reason in check.unjudged)]))
    if as_json:
        print_json(check_document(answer, findings, unjudged, verdicts))
    else:
        print_lines([heading(answer), *check_lines(over)])
        for check, of_capture in found:
            if len(found) > 1 and of_capture:
                print_lines([(), capture_heading(check.capture)])
            print_lines(check_lines(of_capture))
        if verdicts:
            from framedex.commands.output.costs.budgets import verdict_lines

            print_lines(verdict_lines(verdicts))
        for reason in unjudged:
            note(reason)
        if not findings and not any(verdict.problem for verdict in verdicts):
            note("No problems were found in these calls.")
    is_wrong = any(each.severity is not Severity.NOTE for each in findings)
    is_missing = bool(unfinished or left_out) or any(check.capture.stops for check in checks)
    is_broken = not all(verdict.is_kept for verdict in verdicts)
    if (exit_code and is_wrong) or ((exit_code or budgets) and is_missing) or is_broken:
        ctx.exit(1)


def _left_out(checks: Sequence[Check]) -> Iterator[str]:
    """Sentences on captures without some calls: a kept budget may then be exceeded in reality."""
    for check in checks:
        if chosen := Metadata.parse(check.capture.metadata_text).selected_by:
            yield (
                f"Budgets are judged by some of the calls: the recording left out others ({', '.join(sorted(chosen))}),"
                " so the status is 1. Record without that to hold the program to them."
            )


def _over(verdicts: list[Verdict]) -> list[Finding]:
    """Exceeded budgets as findings."""
    if not verdicts:
        return []
    from framedex.budgets.telling import budget_findings

    return budget_findings(verdicts)
