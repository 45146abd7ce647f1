"""Budgets as lines to print: what is over one, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.budgets.model import Subject
from framedex.commands.output.render_compiles import change_text
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.model import Compiles, Finding, PythonLine, Severity, Transfers
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.budgets.model import Broken, Budget, Row, Verdict

_MOST_ROWS = 5  # that are told of one thing
_NOT_KNOWN = "(not known)"


def budget_findings(verdicts: Iterable[Verdict]) -> list[Finding]:
    """What is over its budget, each with its lines, and what changed between compilations."""
    return [_finding(verdict.budget, broken) for verdict in verdicts for broken in verdict.broken]


def verdict_lines(verdicts: Sequence[Verdict]) -> Iterator[Line]:
    """A line for each budget: whether it is kept, and how close that is."""
    yield ()
    yield (Span("budgets", "head"),)
    cells = [(_state(each), each.budget.subject.value, printable(each.budget.text)) for each in verdicts]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for verdict, of_verdict in zip(verdicts, cells, strict=True):
        state, *others = (cell.ljust(width) for cell, width in zip(of_verdict, widths, strict=True))
        told = f"  {'  '.join(others)}  {printable(_told(verdict))}"
        yield (Span(f"  {state}", "" if verdict.is_kept else "error"), Span(told))


def finding_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """The same as `check` shows, for who has no call to trace."""
    for finding in findings:
        message, *more = finding.message.split("\n")
        yield text_line(f"{finding.function} {message}")
        if finding.line is not None:
            yield text_line(f"    {_at(finding.line)}")
        for line in more:
            yield text_line(f"    {line}")


def _state(verdict: Verdict) -> str:
    if verdict.problem:
        return "not judged"
    return "kept" if verdict.is_kept else "broken"


def _told(verdict: Verdict) -> str:
    if verdict.problem:
        return verdict.problem
    subject = verdict.budget.subject
    if not verdict.fits:
        told = {
            Subject.COMPILES: "nothing was compiled",
            Subject.IMPLICIT_TRANSFERS: "nothing was moved",
            Subject.MEMORY: "",
        }[subject]
        return "; ".join(filter(None, (verdict.doubt or told,)))
    most = words.size(verdict.most) if subject is Subject.MEMORY else f"{verdict.most:,}"
    noun = {Subject.COMPILES: "function", Subject.IMPLICIT_TRANSFERS: "row", Subject.MEMORY: "device"}[subject]
    return "; ".join(filter(None, (f"{most} at most, of {words.count(verdict.fits, noun)}", verdict.doubt)))


def _finding(budget: Budget, broken: Broken) -> Finding:
    function, message, line, call = _told_of(broken, budget)
    more = "".join(f"\n{each}" for each in dict.fromkeys(_more(broken.rows, line)))
    count = 1 if budget.subject is Subject.MEMORY else broken.found
    size = broken.found if budget.subject is Subject.MEMORY else None
    return Finding(
        budget.subject.value, Severity.ERROR, f"{message}{more}", function, count, call, line=line, size=size
    )


def _told_of(broken: Broken, budget: Budget) -> tuple[str, str, PythonLine | None, int]:
    """Of what is over its budget: a name, a sentence about it, its first line, and a call."""
    first = broken.rows[0]
    allowed = _allowed(budget)
    if isinstance(first, Compiles):
        message = f"was compiled {words.count(broken.found, 'time')}, {allowed}"
        return first.function or _NOT_KNOWN, message, first.line, first.latest_call
    if isinstance(first, Transfers):
        message = f"{words.count(broken.found, 'implicit transfer')}, {allowed}"
        return first.how, message, first.line, first.latest_call
    held = first.lines[0] if first.lines else None
    message = f"held {words.size(broken.found)} at its peak, {allowed}"
    name = f"device {first.device}" if first.device.isdigit() else first.device or "device not known"
    return name, message, held.line if held else None, first.peak_call


def _more(rows: Sequence[Row], told: PythonLine | None) -> Iterator[str]:
    """What else there is to say of each row."""
    for row in rows[:_MOST_ROWS]:
        if isinstance(row, Compiles):
            if row.line is not None and row.line != told:
                yield f"{words.count(row.compiles, 'time')} by {_at(row.line)}"
            yield from map(change_text, row.changes[:_MOST_ROWS])
        elif isinstance(row, Transfers):
            size = "" if row.size is None else f", {words.size(row.size)}"
            at = f" by {_at(row.line)}" if row.line is not None and row.line != told else ""
            yield f"{row.how}: {row.direction.value}, {words.count(row.count, 'time')}{size}{at}"
        else:
            for held in filter(lambda held: held.at_peak, row.lines[:_MOST_ROWS]):
                at = "no line of Python" if held.line is None else _at(held.line)
                yield f"{words.size(held.at_peak)} in {words.count(held.buffers_at_peak, 'buffer')} made by {at}"
    if len(rows) > _MOST_ROWS:
        yield f"and {words.count(len(rows) - _MOST_ROWS, 'more row')}"


def _allowed(budget: Budget) -> str:
    if budget.subject is Subject.MEMORY:
        return f"{words.size(budget.most)} is allowed"
    count = "none is" if not budget.most else "1 is" if budget.most == 1 else f"{budget.most:,} are"
    return f"{count} allowed" + ("" if budget.pattern.is_everything else f" ({budget.text})")


def _at(line: PythonLine) -> str:
    return f"{line.location.path}:{line.location.line} in {line.function}"
