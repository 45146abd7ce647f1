"""The compared data of one recording: functions, lines, loops and devices, queried from the index once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framedex.diff.alignment import remove_link
from framedex.diff.model import IN_THE_RUNTIME, DiffAspect
from framedex.diff.noise import NO_TIME, MeasuredTime
from framedex.model import CallFilter, WaitReason
from framedex.programs.objects.table import ObjectRole, find_boundary_function
from framedex.texts.costs import format_device_name, format_transfers_kind, format_waits_kind

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.costs.compilations import CompiledProgram
    from framedex.model import CompileChange, FunctionTotals, Loop, PythonLine
    from framedex.model.functions import LineCallee

_MOCK_FREE = "DeviceMemory::Free"  # frees memory of the mock; not a function of the API table

Part = tuple[DiffAspect, str, str]
"""The key of a number: the fields `about`, `name` and `of` of its `Quantity`."""


@dataclass(slots=True)
class TimeSums:
    """Sums of the times of several events, in ns.

    `undisturbed` counts each event as fast as its fastest similar one.
    """

    total: int = 0
    count: int = 0
    undisturbed: int = 0
    squares: float = 0.0  # sum of least² / measured

    def add(self, duration: int, times: int, *, least: int, measured: int) -> None:
        """Add the time of several events; `least` was determined from `measured` values."""
        self.total += duration
        self.count += times
        self.undisturbed += least
        self.squares += least**2 / max(measured, 1)

    @property
    def time(self) -> MeasuredTime:
        """The sums as one `MeasuredTime`.

        If one event dominates, `measurements` is close to its own number of values.
        """
        times, measured = max(self.count, 1), self.undisturbed**2 / self.squares if self.squares else 0.0
        return MeasuredTime(self.total, self.undisturbed // times, self.count, measured)


@dataclass(slots=True)
class Measurements:
    """The numbers of a line, a loop or a device: counts, compared exactly, and times."""

    counts: defaultdict[Part, int] = field(default_factory=lambda: defaultdict(int))
    times: defaultdict[Part, TimeSums] = field(default_factory=lambda: defaultdict(TimeSums))

    def add_count(self, about: DiffAspect, name: str, quantity: str, number: int) -> None:
        """Add to a count. Zero adds no entry."""
        if number:
            self.counts[about, name, quantity] += number

    def add_time(self, name: str, quantity: str, duration: int, times: int, *, measured: int) -> None:
        """Add the total time of several events, measured in `measured` captures."""
        self.times[DiffAspect.TIMES, name, quantity].add(duration, times, least=duration, measured=measured)

    def time(self, part: Part) -> MeasuredTime:
        """Return the time of a part."""
        return self.times[part].time if part in self.times else NO_TIME


@dataclass(slots=True)
class RecordedLine:
    """The data of a program line."""

    figures: Measurements = field(default_factory=Measurements)
    callees: list[LineCallee] = field(default_factory=list)
    changes: list[CompileChange] = field(default_factory=list)
    programs: dict[str, CompiledProgram] = field(default_factory=dict)
    """The first compiled program of each jitted function."""

    @property
    def functions(self) -> frozenset[str]:
        """The runtime functions called by the line, without functions that only delete objects."""
        return frozenset(each.function for each in self.callees if not deletes_objects(each.function))

    @property
    def duration(self) -> int:
        """The time of all calls of the line into the runtime, in ns."""
        return sum(each.duration for each in self.callees)


@dataclass(frozen=True, slots=True)
class RecordedFunction:
    """The data of a runtime function; `time.undisturbed` is the mean of the quick calls of each stack path."""

    totals: FunctionTotals
    time: MeasuredTime


@dataclass(frozen=True, slots=True)
class RecordingData:
    """The data of one recording."""

    functions: dict[str, RecordedFunction]
    lines: dict[PythonLine | None, RecordedLine]
    loops: tuple[Loop, ...]
    devices: Measurements


def deletes_objects(function: str) -> bool:
    """Whether a function only deletes objects.

    Garbage collection decides when, so the line of its call is arbitrary.
    """
    ending = (ObjectRole.DELETES, ObjectRole.DESTROYS)
    return function == _MOCK_FREE or any(each.role in ending for each in find_boundary_function(function).inputs)


def read_recording(index: Index) -> RecordingData:
    """Read the data of an index that is restricted to the compared captures."""
    lines: defaultdict[PythonLine | None, RecordedLine] = defaultdict(RecordedLine)
    captures = len(index.captures())
    spent = _add_calls(index, lines)
    _add_compiles(index, lines, captures)
    _add_transfers(index, lines, captures)
    _add_memory(index, lines)
    waits = index.waits()
    for row in waits.lines:
        if row.how is not WaitReason.RUN:  # a run is a call, already counted as "in the runtime"
            figures = lines[remove_link(row.line)].figures
            figures.add_time("waiting", format_waits_kind(row), row.total_duration, 1, measured=captures)
    totals = index.calls.totals(CallFilter(), by_thread=False)
    functions = {each.function: RecordedFunction(each, spent[each.function].time) for each in totals}
    return RecordingData(functions, dict(lines), waits.loops.rows, _read_devices(index))


def _add_calls(index: Index, lines: defaultdict[PythonLine | None, RecordedLine]) -> Mapping[str, TimeSums]:
    """Add the calls of each line, and return the time of each function."""
    functions: defaultdict[str, TimeSums] = defaultdict(TimeSums)
    for below in index.below_lines():
        line = lines[remove_link(below.line)]
        line.callees.append(below)
        for spent in (functions[below.function], line.figures.times[DiffAspect.TIMES, IN_THE_RUNTIME, ""]):
            spent.add(below.duration, below.calls, least=below.undisturbed, measured=below.calls)
        if not deletes_objects(below.function):
            line.figures.add_count(DiffAspect.CALLS, "calls", below.function, below.calls)
    return functions


def _add_compiles(index: Index, lines: defaultdict[PythonLine | None, RecordedLine], captures: int) -> None:
    rows = sorted(index.compiles(), key=lambda row: row.first_call)
    programs = index.compiled_programs({row.first_call for row in rows})
    for row in rows:
        line = lines[remove_link(row.line)]
        line.figures.add_count(DiffAspect.COMPILES, "compiles", row.function, row.compiles)
        line.figures.add_count(DiffAspect.COMPILES, "loads from a cache", row.function, row.loads)
        line.figures.add_count(DiffAspect.COMPILES, "failed compiles", row.function, row.failed)
        line.figures.add_time("compiling", row.function, row.total_duration, row.compiles, measured=captures)
        line.changes.extend(row.changes)
        if row.compiles and row.function:
            line.programs.setdefault(row.function, programs[row.first_call])


def _add_transfers(index: Index, lines: defaultdict[PythonLine | None, RecordedLine], captures: int) -> None:
    for row in index.transfers():
        figures, kind = lines[remove_link(row.line)].figures, format_transfers_kind(row)
        figures.add_count(DiffAspect.CALLS, "transfers", kind, row.count)
        figures.add_count(DiffAspect.BYTES, "moved", kind, row.size)
        figures.add_time("moving", kind, row.total_duration, row.count, measured=captures)


def _add_memory(index: Index, lines: defaultdict[PythonLine | None, RecordedLine]) -> None:
    """Add the allocations of each line. Peak memory is left out, as it depends on the garbage collector."""
    for device in index.memory():
        for held in device.lines:
            figures, name = lines[remove_link(held.line)].figures, format_device_name(device)
            figures.add_count(DiffAspect.CALLS, "buffers", name, held.buffers)
            figures.add_count(DiffAspect.BYTES, "allocated", name, held.allocated)
            figures.add_count(DiffAspect.BYTES, "left by each iteration", name, held.growth)


def _read_devices(index: Index) -> Measurements:
    figures = Measurements()
    for device in index.memory():
        figures.add_count(
            DiffAspect.BYTES, "allocated", format_device_name(device), sum(held.allocated for held in device.lines)
        )
    return figures
