"""Judge recordings by budgets, and describe exceeded budgets as findings with lines and causes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.words import find_nearest_name
from framedex.budgets.model import Budget, BudgetSubject, BudgetVerdict, BudgetViolation
from framedex.model import CallFilter, Compiles, Finding, Metadata, Severity, Startup, StartupPart, Transfers
from framedex.texts.compilations import format_change
from framedex.texts.startup import format_traced_line

if TYPE_CHECKING:
    from framedex.budgets.model import Pattern, Row
    from framedex.index import Index
    from framedex.model import PythonLine

_NO_MATCH = {
    BudgetSubject.COMPILES: "matches no compiled function",
    BudgetSubject.IMPLICIT_TRANSFERS: "matches no line that moved data",
}


_UNKNOWN_DATA = {
    BudgetSubject.MEMORY: "device memory is unknown, because the recording lacks the calls that allocate it",
    BudgetSubject.TRACE_TIME: "the start is unknown, because the recording lacks its phases",
}


def judge(indexes: Iterable[Index], budgets: Iterable[Budget]) -> list[BudgetVerdict]:
    """Return the verdict on each budget, in the order of the budgets. Each index contains the captures of one process.

    The last matching budget of a subject applies to a line or function; earlier ones apply only to lines and functions
    without a later match. A budget of lines limits each function that a line compiled, and the sum of a line's
    transfers. A budget of a function limits the sum over all its lines.
    """
    of_all = [_BudgetState(budget) for budget in budgets]
    by_subject = {subject: [each for each in of_all if each.budget.subject is subject] for subject in BudgetSubject}
    for index in indexes:
        if of_compiles := by_subject[BudgetSubject.COMPILES]:
            _judge_rows(of_compiles, [_build_compile_row(row) for row in index.compiles()])
        if of_transfers := by_subject[BudgetSubject.IMPLICIT_TRANSFERS]:
            _judge_rows(of_transfers, [_build_transfer_row(row) for row in index.transfers()])
        if of_memory := by_subject[BudgetSubject.MEMORY]:
            _judge_memory(of_memory, index)
        if of_starts := by_subject[BudgetSubject.TRACE_TIME]:
            _judge_starts(of_starts, index)
    return [each.verdict() for each in of_all]


@dataclass(frozen=True, slots=True)
class _CostRow:
    """A row of an answer: the limited amount and its line.

    `function` is the function of the row; a budget of that name adds up its rows. `enclosing_function` is the Python
    function that contains the line. Rows of one line with the same `addition_key` are added up.
    """

    row: Compiles | Transfers
    amount: int
    line: PythonLine | None
    function: str
    enclosing_function: str
    addition_key: Hashable

    def matches(self, pattern: Pattern) -> bool:
        is_named = pattern.matches_function(self.function) or pattern.matches_function(self.enclosing_function)
        return pattern.matches_line(self.line) and (is_named or not pattern.function)

    def group_key(self, pattern: Pattern) -> Hashable:
        """The key of the rows that a budget with this pattern adds up."""
        return self.function if pattern.matches_function(self.function) else (self.line, self.addition_key)


@dataclass(slots=True)
class _BudgetState:
    """A budget with its results so far."""

    budget: Budget
    matches: int = 0
    largest_amount: int = 0
    violations: list[BudgetViolation] = field(default_factory=list)
    others: list[_CostRow] = field(default_factory=list)  # candidates for a suggestion
    unsized_buffers: int = 0
    is_unknown: bool = False  # the recording lacks the calls with this data

    def add_amount(self, found: int, rows: Sequence[Row]) -> None:
        """Add the amount of one line, function or device."""
        self.largest_amount = max(self.largest_amount, found)
        if found > self.budget.limit:
            self.violations.append(BudgetViolation(found, tuple(rows)))

    def verdict(self) -> BudgetVerdict:
        """Return the verdict."""
        broken = tuple(sorted(self.violations, key=lambda each: -each.amount))
        problem, doubt = "", ""
        if self.unsized_buffers:
            doubt = f"the figures exclude {words.count(self.unsized_buffers, 'buffer')} of unknown size"
        if not self.matches and not self.budget.pattern.is_everything:
            told = f"{self.budget.pattern.text} {_NO_MATCH[self.budget.subject]}{self._suggestion()}"
            # A budget of 0 demands that nothing matches.
            problem, doubt = (told, "") if self.budget.limit else ("", told)
        if self.is_unknown:
            problem = _UNKNOWN_DATA[self.budget.subject]
        return BudgetVerdict(self.budget, self.matches, self.largest_amount, broken, problem, doubt)

    def _suggestion(self) -> str:
        """A suggestion, as the end of a message, for a pattern that matches nothing."""
        pattern = self.budget.pattern
        in_file = [item for item in self.others if pattern.matches_file(item.line)]
        near: str | None
        if not in_file:
            files = {item.line.location.path.rpartition("/")[2] for item in self.others if item.line is not None}
            near = find_nearest_name(pattern.file.rpartition("/")[2], files)
        elif pattern.line is not None:
            lines = [item.line.location.line for item in in_file if item.line is not None]
            near = f"{pattern.file}:{min(lines, key=lambda line: abs(line - (pattern.line or 0)))}"
        else:
            near = find_nearest_name(pattern.function, {item.function for item in in_file})
        return f"; did you mean {near}?" if near else ""


def _judge_rows(judged: Sequence[_BudgetState], items: Sequence[_CostRow]) -> None:
    """Judge each row by the last matching budget."""
    of_each: dict[int, list[_CostRow]] = {}
    for item in items:
        fitting = [place for place, each in enumerate(judged) if item.matches(each.budget.pattern)]
        for place in fitting:
            judged[place].matches += 1
        for place in fitting[-1:]:
            of_each.setdefault(place, []).append(item)
    for place, each in enumerate(judged):
        if not each.matches:
            each.others += items
        things: dict[Hashable, list[_CostRow]] = {}
        for item in of_each.get(place, ()):
            things.setdefault(item.group_key(each.budget.pattern), []).append(item)
        for together in things.values():
            most_first = sorted(together, key=lambda item: -item.amount)
            each.add_amount(sum(item.amount for item in together), [item.row for item in most_first if item.amount])


def _build_compile_row(row: Compiles) -> _CostRow:
    return _CostRow(row, row.compiles, row.line, row.function, _find_enclosing_function(row.line), addition_key=id(row))


def _build_transfer_row(row: Transfers) -> _CostRow:
    around = _find_enclosing_function(row.line)
    return _CostRow(row, row.count if row.is_implicit else 0, row.line, around, around, addition_key=None)


def _find_enclosing_function(line: PythonLine | None) -> str:
    return "" if line is None else line.function


def _judge_memory(judged: Sequence[_BudgetState], index: Index) -> None:
    """Judge each device by the last budget."""
    devices = index.memory()
    if not devices and not _has_memory_data(index):
        for each in judged:
            each.is_unknown = True
    for device in devices:
        for each in judged:
            each.matches += 1
        judged[-1].unsized_buffers += device.unsized
        judged[-1].add_amount(device.peak, [device])


def _judge_starts(judged: Sequence[_BudgetState], index: Index) -> None:
    """Judge the startup of each process by the last budget."""
    starts = index.startup()
    for each in judged:
        each.is_unknown |= not starts
        each.matches += len(starts)
    for startup in starts:
        judged[-1].add_amount(startup.duration_of(StartupPart.TRACING), [startup])


def _has_memory_data(index: Index) -> bool:
    """Whether the recording would show memory: it has all calls of the PJRT C API, or no calls at all."""
    captures = index.captures()
    if not any(capture.calls for capture in captures):
        return True
    is_chosen = any(Metadata.parse(capture.metadata_text).selected_by for capture in captures)
    return not is_chosen and bool(index.calls.find(CallFilter(function="PJRT_*"), 1))


_MAX_ROWS = 5  # rows of one finding
_UNKNOWN = "(unknown)"


def build_budget_findings(verdicts: Iterable[BudgetVerdict]) -> list[Finding]:
    """Exceeded budgets as findings, with their lines and the changes between compilations."""
    return [_build_finding(verdict.budget, broken) for verdict in verdicts for broken in verdict.violations]


def format_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Findings as lines of text, without call ids."""
    for finding in findings:
        message, *more = finding.message.split("\n")
        yield f"{finding.function} {message}"
        if finding.line is not None:
            yield f"    {_format_line(finding.line)}"
        yield from (f"    {line}" for line in more)


def _build_finding(budget: Budget, broken: BudgetViolation) -> Finding:
    function, message, line, call = _describe_violation(broken, budget)
    more = "".join(f"\n{each}" for each in dict.fromkeys(_format_row_details(broken.rows, line)))
    is_size = budget.subject is BudgetSubject.MEMORY
    is_count = not is_size and budget.subject is not BudgetSubject.TRACE_TIME
    return Finding(
        kind=budget.subject.value,
        severity=Severity.ERROR,
        message=f"{message}{more}",
        function=function,
        count=broken.amount if is_count else 1,
        call=call,
        line=line,
        size=broken.amount if is_size else None,
    )


def _describe_violation(broken: BudgetViolation, budget: Budget) -> tuple[str, str, PythonLine | None, int]:
    """The name, message, first line and call of an exceeded budget."""
    first = broken.rows[0]
    allowed = _format_limit(budget)
    if isinstance(first, Compiles):
        message = f"was compiled {words.count(broken.amount, 'time')}, {allowed}"
        return first.function or _UNKNOWN, message, first.line, first.latest_call
    if isinstance(first, Transfers):
        ways = dict.fromkeys(row.how or _UNKNOWN for row in broken.rows if isinstance(row, Transfers))
        message = f"made {words.count(broken.amount, 'implicit transfer')}, {allowed}"
        return ", ".join(ways), message, first.line, first.latest_call
    if isinstance(first, Startup):
        message = f"spent {words.format_duration(broken.amount)} on tracing until its first step, {allowed}"
        return "start of the process", message, first.line, first.call
    held = first.lines[0] if first.lines else None
    message = f"held {words.format_size(broken.amount)} at its peak, {allowed}"
    name = f"device {first.device}" if first.device.isdigit() else first.device or "unknown device"
    return name, message, held.line if held else None, first.peak_call


def _format_row_details(rows: Sequence[Row], line: PythonLine | None) -> Iterator[str]:
    """Further details of each row."""
    for row in rows[:_MAX_ROWS]:
        if isinstance(row, Compiles):
            if row.line is not None and row.line != line:
                yield f"{words.count(row.compiles, 'time')} by {_format_line(row.line)}"
            yield from map(format_change, row.changes[:_MAX_ROWS])
        elif isinstance(row, Transfers):
            unsized = f" and {row.unsized:,} of unknown size" if row.unsized else ""
            by = f" by {_format_line(row.line)}" if row.line is not None and row.line != line else ""
            size = f"{words.format_size(row.size)}{unsized}"
            yield f"{row.how or _UNKNOWN}: {row.direction.value}, {words.count(row.count, 'time')}, {size}{by}"
        elif isinstance(row, Startup):
            yield from _format_tracing_details(row)
        else:
            for held in row.lines[:_MAX_ROWS]:
                if held.at_peak:
                    by = "no Python line" if held.line is None else _format_line(held.line)
                    yield (
                        f"{words.format_size(held.at_peak)} in {words.count(held.buffers_at_peak, 'buffer')} made "
                        f"by {by}"
                    )
    if len(rows) > _MAX_ROWS:
        yield f"and {words.count(len(rows) - _MAX_ROWS, 'more row')}"


def _format_tracing_details(startup: Startup) -> Iterator[str]:
    """The functions that took longest to trace, and the unrolled loops in them."""
    for part in startup.parts:
        for row in part.rows[:_MAX_ROWS] if part.part is StartupPart.TRACING else ():
            yield f"{words.format_duration(row.duration)} {row.name}" + (
                f" by {_format_line(row.line)}" if row.line else ""
            )
    for line in [each for each in startup.traced_lines if each.repeats > 1][:_MAX_ROWS]:
        yield f"{_format_line(line.line)}: {format_traced_line(line)}"


def _format_limit(budget: Budget) -> str:
    if budget.subject is BudgetSubject.TRACE_TIME:
        return f"{words.format_duration(budget.limit)} is allowed"
    if budget.subject is BudgetSubject.MEMORY:
        return f"{words.format_size(budget.limit)} is allowed"
    count = "none is" if not budget.limit else "1 is" if budget.limit == 1 else f"{budget.limit:,} are"
    return f"{count} allowed" + ("" if budget.pattern.is_everything else f" ({budget.text})")


def _format_line(line: PythonLine) -> str:
    return f"{line.location.path}:{line.location.line} in {line.function}"
