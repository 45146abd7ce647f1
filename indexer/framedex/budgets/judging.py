"""Judge recordings by budgets, from the answers of their indexes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framedex import words
from framedex.budgets.model import Broken, Budget, Subject, Verdict
from framedex.model import CallFilter, Metadata
from framedex.nearest import nearest

if TYPE_CHECKING:
    from framedex.budgets.model import Row
    from framedex.budgets.patterns import Pattern
    from framedex.index import Index
    from framedex.model import Compiles, PythonLine, Transfers

_FITS_NOTHING = {
    Subject.COMPILES: "fits nothing that was compiled",
    Subject.IMPLICIT_TRANSFERS: "fits no line that moved anything",
}


def judge(indexes: Iterable[Index], budgets: Iterable[Budget]) -> list[Verdict]:
    """Return the verdict on each budget, in the order of the budgets; each index is of one process.

    The last matching budget of a subject applies to a line or function; earlier ones apply only to lines and functions
    without a later match. A budget of lines limits each function that a line compiled, and the sum of a line's
    transfers. A budget of a function limits the sum over all its lines.
    """
    of_all = [_Judged(budget) for budget in budgets]
    by_subject = {subject: [each for each in of_all if each.budget.subject is subject] for subject in Subject}
    for index in indexes:
        if of_compiles := by_subject[Subject.COMPILES]:
            _judge(of_compiles, [_of_compiles(row) for row in index.compiles()])
        if of_transfers := by_subject[Subject.IMPLICIT_TRANSFERS]:
            _judge(of_transfers, [_of_transfers(row) for row in index.transfers()])
        if of_memory := by_subject[Subject.MEMORY]:
            _judge_memory(of_memory, index)
    return [each.verdict() for each in of_all]


@dataclass(frozen=True, slots=True)
class _Item:
    """A row of an answer: the limited amount and its line.

    `function` is the owner of the row; a budget of that name counts its rows together. `around` is the Python function
    that contains the line. Rows of one line with the same `share` count together.
    """

    row: Compiles | Transfers
    amount: int
    line: PythonLine | None
    function: str
    around: str
    share: Hashable

    def fits(self, pattern: Pattern) -> bool:
        is_named = pattern.fits_function(self.function) or pattern.fits_function(self.around)
        return pattern.fits_line(self.line) and (is_named or not pattern.function)

    def thing(self, pattern: Pattern) -> Hashable:
        """The key of rows that a budget with this pattern counts together."""
        return self.function if pattern.fits_function(self.function) else (self.line, self.share)


@dataclass(slots=True)
class _Judged:
    """A budget with its results so far."""

    budget: Budget
    fits: int = 0
    most: int = 0
    broken: list[Broken] = field(default_factory=list)
    others: list[_Item] = field(default_factory=list)  # candidates for a suggestion
    unsized: int = 0
    is_unknown: bool = False  # the recording lacks the calls with this data

    def note(self, found: int, rows: Sequence[Row]) -> None:
        """Add the amount of one line, function or device."""
        self.most = max(self.most, found)
        if found > self.budget.most:
            self.broken.append(Broken(found, tuple(rows)))

    def verdict(self) -> Verdict:
        """Return the verdict."""
        broken = tuple(sorted(self.broken, key=lambda each: -each.found))
        problem, doubt = "", ""
        if self.unsized:
            doubt = f"{words.count(self.unsized, 'buffer')} whose size nothing tells are not counted"
        if not self.fits and not self.budget.pattern.is_everything:
            told = f"{self.budget.pattern.text} {_FITS_NOTHING[self.budget.subject]}{self._meant()}"
            # A budget of 0 demands that nothing matches.
            problem, doubt = (told, "") if self.budget.most else ("", told)
        if self.is_unknown:
            problem = "no memory of a device is known: the calls that would tell it are not in the recording"
        return Verdict(self.budget, self.fits, self.most, broken, problem, doubt)

    def _meant(self) -> str:
        """A suggestion for a pattern that matches nothing."""
        pattern = self.budget.pattern
        in_file = [item for item in self.others if pattern.fits_file(item.line)]
        near: str | None
        if not in_file:
            files = {item.line.location.path.rpartition("/")[2] for item in self.others if item.line is not None}
            near = nearest(pattern.file.rpartition("/")[2], files)
        elif pattern.line is not None:
            lines = [item.line.location.line for item in in_file if item.line is not None]
            near = f"{pattern.file}:{min(lines, key=lambda line: abs(line - (pattern.line or 0)))}"
        else:
            near = nearest(pattern.function, {item.function for item in in_file})
        return f"; did you mean {near}?" if near else ""


def _judge(judged: Sequence[_Judged], items: Sequence[_Item]) -> None:
    """Judge each row by the last matching budget."""
    of_each: dict[int, list[_Item]] = {}
    for item in items:
        fitting = [place for place, each in enumerate(judged) if item.fits(each.budget.pattern)]
        for place in fitting:
            judged[place].fits += 1
        for place in fitting[-1:]:
            of_each.setdefault(place, []).append(item)
    for place, each in enumerate(judged):
        if not each.fits:
            each.others += items
        things: dict[Hashable, list[_Item]] = {}
        for item in of_each.get(place, ()):
            things.setdefault(item.thing(each.budget.pattern), []).append(item)
        for together in things.values():
            most_first = sorted(together, key=lambda item: -item.amount)
            each.note(sum(item.amount for item in together), [item.row for item in most_first if item.amount])


def _of_compiles(row: Compiles) -> _Item:
    return _Item(row, row.compiles, row.line, row.function, _around(row.line), share=id(row))


def _of_transfers(row: Transfers) -> _Item:
    around = _around(row.line)
    return _Item(row, row.count if row.is_implicit else 0, row.line, around, around, share=None)


def _around(line: PythonLine | None) -> str:
    return "" if line is None else line.function


def _judge_memory(judged: Sequence[_Judged], index: Index) -> None:
    """Judge each device by the last budget."""
    devices = index.memory()
    if not devices and not _tells_memory(index):
        for each in judged:
            each.is_unknown = True
    for device in devices:
        for each in judged:
            each.fits += 1
        judged[-1].unsized += device.unsized
        judged[-1].note(device.peak, [device])


def _tells_memory(index: Index) -> bool:
    """Whether the recording would show memory: it has all calls of the PJRT C API, or no calls at all."""
    captures = index.captures()
    if not any(capture.calls for capture in captures):
        return True
    is_chosen = any(Metadata.parse(capture.metadata_text).selected_by for capture in captures)
    return not is_chosen and bool(index.calls.find(CallFilter(function="PJRT_*"), 1))
