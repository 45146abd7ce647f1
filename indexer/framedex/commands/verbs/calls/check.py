"""`framedex check`: report problems in captures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.budgets.model import BudgetSubject
from framedex.commands.inputs.missing_answers import build_unfinished_capture_notes
from framedex.commands.inputs.options import Choice, CountBudget, collect_budgets, judge_budgets
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.launching.options import ByteSize
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import check_document
from framedex.commands.output.render_calls import render_capture_heading
from framedex.commands.output.render_check import check_lines, rule_traces
from framedex.commands.output.terminal import Line, Span, measure_columns
from framedex.model import Metadata, Severity
from framedex.plugins.validation import RULES_BY_NAME

if TYPE_CHECKING:
    from framedex.budgets.model import Budget, BudgetVerdict
    from framedex.model import Check, Finding


_BUDGETS = ("compiles", "implicit-transfers", "memory", "startup.trace_seconds")
_KINDS = [
    *(
        "error",
        "behaviour",
        "crash",
        "donation",
        "never-returned",
        "unimplemented",
        "alive",
        *RULES_BY_NAME,
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
@click.option("--max-memory", type=ByteSize(), metavar="BYTES", help="At most this much live memory on a device: 2GiB.")
@click.option(
    "--max-trace-seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="At most this long for tracing from the start of a process until its first step.",
)
@click.option("--stacks", is_flag=True, help="Show the stacks of each broken rule: of the call and of its cause.")
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    selection: CaptureSelection | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    exit_code: bool,
    max_compiles: tuple[Budget, ...],
    max_implicit_transfers: tuple[Budget, ...],
    no_implicit_transfers: bool,
    max_memory: int | None,
    max_trace_seconds: float | None,
    stacks: bool,
    as_json: bool,
) -> None:
    """Report errors, crashes, API misuse and broken budgets.

    Findings are returned errors, crashes, unusable donations, unimplemented functions, calls that never returned, and
    violations of the PJRT C API by the program or the plug-in. docs/reference/validation.md lists the rules. Equal
    findings appear once, with the id of a call for `framedex trace`.

    Budgets (--max-compiles and the options after it) limit each process. Status 1: a budget is exceeded or matches
    nothing, or calls are missing. See docs/how-to/ci.md.
    """
    budgets = collect_budgets(
        max_compiles, max_implicit_transfers, no_implicit_transfers, max_memory, max_trace_seconds
    )
    with open_whole_runs(ctx.obj, selection) as (index, answer):
        checks = [index.capture(capture.id).check() for capture in answer.captures]
        verdicts = judge_budgets(index, answer, budgets) if budgets else []
        unfinished = list(build_unfinished_capture_notes(index, answer.captures)) if budgets else []
        found = [(check, [each for each in check.findings if _is_shown(each, only, ignore)]) for check in checks]
        shown = [each for _, findings in found for each in findings]
        traces = rule_traces(shown, index.calls.trace) if stacks else {}

    budget_violations = [each for each in _build_budget_findings(verdicts) if _is_shown(each, only, ignore)]
    findings = [*budget_violations, *shown]
    selection_notes = list(_selection_notes(checks)) if budgets else []
    unjudged = list(
        dict.fromkeys([*unfinished, *selection_notes, *(reason for check in checks for reason in check.unjudged)])
    )
    if as_json:
        print_json(check_document(answer, findings, unjudged, verdicts, traces))
    else:
        print_lines([render_heading_line(answer), *check_lines(budget_violations, traces)])
        for check, capture_findings in found:
            if len(found) > 1 and capture_findings:
                print_lines([(), render_capture_heading(check.capture)])
            print_lines(check_lines(capture_findings, traces))
        if verdicts:
            print_lines(render_verdict_lines(verdicts))
        for reason in unjudged:
            note(reason)
        if not findings and not any(verdict.problem for verdict in verdicts):
            note("No problems were found in these calls.")
    has_findings = any(each.severity is not Severity.NOTE for each in findings)
    has_missing_calls = bool(unfinished or selection_notes) or any(check.capture.stops for check in checks)
    is_over_budget = not all(verdict.is_met for verdict in verdicts)
    if (exit_code and has_findings) or ((exit_code or budgets) and has_missing_calls) or is_over_budget:
        ctx.exit(1)


def _is_shown(finding: Finding, only: Collection[str], ignore: Collection[str]) -> bool:
    return finding.kind not in ignore and (not only or finding.kind in only)


def _selection_notes(checks: Sequence[Check]) -> Iterator[str]:
    """A note per capture whose recording left out calls: the program may exceed a budget that these calls keep."""
    for check in checks:
        if selection := Metadata.parse(check.capture.metadata_text).selected_by:
            yield (
                f"Budgets were checked against some calls only, because {', '.join(sorted(selection))} left out others."
                " The status is therefore 1. Record without that option to check all calls."
            )


def _build_budget_findings(verdicts: list[BudgetVerdict]) -> list[Finding]:
    """Exceeded budgets as findings."""
    if not verdicts:
        return []
    from framedex.budgets.verdicts import build_budget_findings

    return build_budget_findings(verdicts)


_CHECKED_NOUNS = {
    BudgetSubject.COMPILES: "function",
    BudgetSubject.IMPLICIT_TRANSFERS: "transfer site",
    BudgetSubject.MEMORY: "device",
    BudgetSubject.TRACE_TIME: "start",
}
_NO_MATCH_TEXTS = {
    BudgetSubject.COMPILES: "no compilations",
    BudgetSubject.IMPLICIT_TRANSFERS: "no transfers",
    BudgetSubject.MEMORY: "no recorded device memory",
    BudgetSubject.TRACE_TIME: "no recorded start",
}


def render_verdict_lines(verdicts: Sequence[BudgetVerdict]) -> Iterator[Line]:
    """One line per budget: whether it is kept, and the largest value found."""
    yield ()
    yield (Span("budgets", "head"),)
    cells = [
        (_format_verdict_state(each), each.budget.subject.value, make_printable(each.budget.text)) for each in verdicts
    ]
    widths = measure_columns(*cells)
    for verdict, row in zip(verdicts, cells, strict=True):
        state, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        outcome = f"  {'  '.join(others)}  {make_printable(_format_verdict(verdict))}"
        yield (Span(f"  {state}", "" if verdict.is_met else "error"), Span(outcome))


def _format_verdict_state(verdict: BudgetVerdict) -> str:
    if verdict.problem:
        return "not checked"
    return "kept" if verdict.is_met else "exceeded"


def _format_verdict(verdict: BudgetVerdict) -> str:
    if verdict.problem:
        return verdict.problem
    subject = verdict.budget.subject
    if not verdict.matches:
        return verdict.missing_data or _NO_MATCH_TEXTS[subject]
    formats = {BudgetSubject.MEMORY: words.format_size, BudgetSubject.TRACE_TIME: words.format_duration}
    most = formats.get(subject, "{:,}".format)(verdict.largest_amount)
    outcome = f"largest {most} ({words.count(verdict.matches, _CHECKED_NOUNS[subject])} checked)"
    return f"{outcome}; {verdict.missing_data}" if verdict.missing_data else outcome
