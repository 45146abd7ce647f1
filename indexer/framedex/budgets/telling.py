"""Exceeded budgets as findings with lines and causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.budgets.model import Subject
from framedex.costtext import change_text
from framedex.model import Compiles, Finding, Severity, Transfers

if TYPE_CHECKING:
    from framedex.budgets.model import Broken, Budget, Row, Verdict
    from framedex.model import PythonLine

_MOST_ROWS = 5  # rows of one finding
_NOT_KNOWN = "(not known)"


def budget_findings(verdicts: Iterable[Verdict]) -> list[Finding]:
    """Exceeded budgets as findings, with their lines and the changes between compilations."""
    return [_finding(verdict.budget, broken) for verdict in verdicts for broken in verdict.broken]


def finding_texts(findings: Iterable[Finding]) -> Iterator[str]:
    """Findings as lines of text, for readers without a call to trace."""
    for finding in findings:
        message, *more = finding.message.split("\n")
        yield f"{finding.function} {message}"
        if finding.line is not None:
            yield f"    {_at(finding.line)}"
        yield from (f"    {line}" for line in more)


def _finding(budget: Budget, broken: Broken) -> Finding:
    function, message, line, call = _told_of(broken, budget)
    more = "".join(f"\n{each}" for each in dict.fromkeys(_more(broken.rows, line)))
    is_size = budget.subject is Subject.MEMORY
    return Finding(
        kind=budget.subject.value,
        severity=Severity.ERROR,
        message=f"{message}{more}",
        function=function,
        count=1 if is_size else broken.found,
        call=call,
        line=line,
        size=broken.found if is_size else None,
    )


def _told_of(broken: Broken, budget: Budget) -> tuple[str, str, PythonLine | None, int]:
    """The name, message, first line and call of an exceeded budget."""
    first = broken.rows[0]
    allowed = _allowed(budget)
    if isinstance(first, Compiles):
        message = f"was compiled {words.count(broken.found, 'time')}, {allowed}"
        return first.function or _NOT_KNOWN, message, first.line, first.latest_call
    if isinstance(first, Transfers):
        ways = dict.fromkeys(row.how or _NOT_KNOWN for row in broken.rows if isinstance(row, Transfers))
        message = f"made {words.count(broken.found, 'implicit transfer')}, {allowed}"
        return ", ".join(ways), message, first.line, first.latest_call
    held = first.lines[0] if first.lines else None
    message = f"held {words.size(broken.found)} at its peak, {allowed}"
    name = f"device {first.device}" if first.device.isdigit() else first.device or "device not known"
    return name, message, held.line if held else None, first.peak_call


def _more(rows: Sequence[Row], told: PythonLine | None) -> Iterator[str]:
    """Further details of each row."""
    for row in rows[:_MOST_ROWS]:
        if isinstance(row, Compiles):
            if row.line is not None and row.line != told:
                yield f"{words.count(row.compiles, 'time')} by {_at(row.line)}"
            yield from map(change_text, row.changes[:_MOST_ROWS])
        elif isinstance(row, Transfers):
            unsized = f" and {row.unsized:,} of a size that no call tells" if row.unsized else ""
            by = f" by {_at(row.line)}" if row.line is not None and row.line != told else ""
            size = f"{words.size(row.size)}{unsized}"
            yield f"{row.how or _NOT_KNOWN}: {row.direction.value}, {words.count(row.count, 'time')}, {size}{by}"
        else:
            for held in row.lines[:_MOST_ROWS]:
                if held.at_peak:
                    by = "no line of Python" if held.line is None else _at(held.line)
                    yield f"{words.size(held.at_peak)} in {words.count(held.buffers_at_peak, 'buffer')} made by {by}"
    if len(rows) > _MOST_ROWS:
        yield f"and {words.count(len(rows) - _MOST_ROWS, 'more row')}"


def _allowed(budget: Budget) -> str:
    if budget.subject is Subject.MEMORY:
        return f"{words.size(budget.most)} is allowed"
    count = "none is" if not budget.most else "1 is" if budget.most == 1 else f"{budget.most:,} are"
    return f"{count} allowed" + ("" if budget.pattern.is_everything else f" ({budget.text})")


def _at(line: PythonLine) -> str:
    return f"{line.location.path}:{line.location.line} in {line.function}"
