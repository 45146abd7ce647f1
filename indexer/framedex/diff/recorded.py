"""What one recording says that is compared: its functions, lines, loops and devices, asked of the index once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framedex.costtext import device_name, transfers_kind, waits_kind
from framedex.diff.aligning import plain_line
from framedex.diff.model import IN_THE_RUNTIME, About
from framedex.diff.noise import NO_TIME, Time
from framedex.model import CallFilter, WaitHow
from framedex.objects.table import Role, function_named

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.costs.programs import CompiledProgram
    from framedex.model import Change, FunctionTotals, Loop, PythonLine
    from framedex.model.below_lines import BelowLine

_FREES = "DeviceMemory::Free"  # of the mock's memory, which is no function of the table

Part = tuple[About, str, str]
"""What a number is of: as `Quantity.about`, `name` and `of`."""


@dataclass(slots=True)
class Spent:
    """What several of something took, and what they were if each had been as quick as the quickest like it, ns."""

    total: int = 0
    times: int = 0
    least: int = 0
    squares: float = 0.0  # of `least`, each divided by how many it was measured of

    def add(self, duration: int, times: int, *, least: int, measured: int) -> None:
        """Add what so many took; `least` was taken of `measured` ones."""
        self.total += duration
        self.times += times
        self.least += least
        self.squares += least**2 / max(measured, 1)

    @property
    def time(self) -> Time:
        """All of it as one time. Where one part took nearly all, it is as well known as that part is."""
        times, measured = max(self.times, 1), self.least**2 / self.squares if self.squares else 0.0
        return Time(self.total, self.least // times, self.times, measured)


@dataclass(slots=True)
class Figures:
    """What is counted of a line, a loop or a device: numbers that are compared as they are, and times."""

    counts: defaultdict[Part, int] = field(default_factory=lambda: defaultdict(int))
    times: defaultdict[Part, Spent] = field(default_factory=lambda: defaultdict(Spent))

    def count(self, about: About, name: str, of: str, number: int) -> None:
        """Add to a number; none of something is nothing."""
        if number:
            self.counts[about, name, of] += number

    def spend(self, name: str, of: str, duration: int, times: int, *, measured: int) -> None:
        """Add what so many of something took, of which the sum alone is known; it was measured in so many captures."""
        self.times[About.TIMES, name, of].add(duration, times, least=duration, measured=measured)

    def time(self, part: Part) -> Time:
        """What all of something took, and each."""
        return self.times[part].time if part in self.times else NO_TIME


@dataclass(slots=True)
class RecordedLine:
    """What is known of a line of the program."""

    figures: Figures = field(default_factory=Figures)
    below: list[BelowLine] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    programs: dict[str, CompiledProgram] = field(default_factory=dict)
    """By the jitted function, the first that was compiled of it."""

    @property
    def functions(self) -> frozenset[str]:
        """The functions of the runtime that it led to, but for those that only end objects."""
        return frozenset(each.function for each in self.below if not ends_objects(each.function))

    @property
    def duration(self) -> int:
        """The time of all its calls into the runtime, ns."""
        return sum(each.duration for each in self.below)


@dataclass(frozen=True, slots=True)
class RecordedFunction:
    """What is known of a function of the runtime; `time.quick` is the mean of the quick ones of each way."""

    totals: FunctionTotals
    time: Time


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recording."""

    functions: dict[str, RecordedFunction]
    lines: dict[PythonLine | None, RecordedLine]
    loops: tuple[Loop, ...]
    devices: Figures


def ends_objects(function: str) -> bool:
    """Whether calls only end objects: Python decides when, so it is chance in which line that happens."""
    ending = (Role.DELETES, Role.DESTROYS)
    return function == _FREES or any(each.role in ending for each in function_named(function).inputs)


def recorded(index: Index) -> Recorded:
    """Ask an index, which has the captures that are compared and no others."""
    lines: defaultdict[PythonLine | None, RecordedLine] = defaultdict(RecordedLine)
    captures = len(index.captures())
    spent = _add_calls(index, lines)
    _add_compiles(index, lines, captures)
    _add_transfers(index, lines, captures)
    _add_memory(index, lines)
    waits = index.waits()
    for row in waits.lines:
        if row.how is not WaitHow.RUN:  # which is a call: known better "in the runtime"
            figures = lines[plain_line(row.line)].figures
            figures.spend("waiting", waits_kind(row), row.total_duration, 1, measured=captures)
    totals = index.calls.totals(CallFilter(), by_thread=False)
    functions = {each.function: RecordedFunction(each, spent[each.function].time) for each in totals}
    return Recorded(functions, dict(lines), waits.loops.rows, _devices(index))


def _add_calls(index: Index, lines: defaultdict[PythonLine | None, RecordedLine]) -> Mapping[str, Spent]:
    """Add the calls of each line; what those of each function took is returned."""
    functions: defaultdict[str, Spent] = defaultdict(Spent)
    for below in index.below_lines():
        line = lines[plain_line(below.line)]
        line.below.append(below)
        for spent in (functions[below.function], line.figures.times[About.TIMES, IN_THE_RUNTIME, ""]):
            spent.add(below.duration, below.calls, least=below.least, measured=below.calls)
        if not ends_objects(below.function):
            line.figures.count(About.CALLS, "calls", below.function, below.calls)
    return functions


def _add_compiles(index: Index, lines: defaultdict[PythonLine | None, RecordedLine], captures: int) -> None:
    rows = sorted(index.compiles(), key=lambda row: row.first_call)
    programs = index.compiled_programs({row.first_call for row in rows})
    for row in rows:
        line = lines[plain_line(row.line)]
        line.figures.count(About.COMPILES, "compiles", row.function, row.compiles)
        line.figures.count(About.COMPILES, "loads from a cache", row.function, row.loads)
        line.figures.count(About.COMPILES, "failed compiles", row.function, row.failed)
        line.figures.spend("compiling", row.function, row.total_duration, row.compiles, measured=captures)
        line.changes.extend(row.changes)
        if row.compiles and row.function:
            line.programs.setdefault(row.function, programs[row.first_call])


def _add_transfers(index: Index, lines: defaultdict[PythonLine | None, RecordedLine], captures: int) -> None:
    for row in index.transfers():
        figures, kind = lines[plain_line(row.line)].figures, transfers_kind(row)
        figures.count(About.CALLS, "transfers", kind, row.count)
        figures.count(About.BYTES, "moved", kind, row.size)
        figures.spend("moving", kind, row.total_duration, row.count, measured=captures)


def _add_memory(index: Index, lines: defaultdict[PythonLine | None, RecordedLine]) -> None:
    """What lines allocate; how much of it lives at once is for the garbage collection to say."""
    for device in index.memory():
        for held in device.lines:
            figures, name = lines[plain_line(held.line)].figures, device_name(device)
            figures.count(About.CALLS, "buffers", name, held.buffers)
            figures.count(About.BYTES, "allocated", name, held.allocated)
            figures.count(About.BYTES, "left by each round", name, held.growth)


def _devices(index: Index) -> Figures:
    figures = Figures()
    for device in index.memory():
        figures.count(About.BYTES, "allocated", device_name(device), sum(held.allocated for held in device.lines))
    return figures
