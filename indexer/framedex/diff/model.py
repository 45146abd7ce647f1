"""The result of comparing two recordings: their differences, and a ranking of lines by change in cost."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerScope, PythonLine
    from framedex.model.guidebook import DisplayedLocation


IN_THE_RUNTIME = "in the runtime"
"""The name of the quantity for the total time of a line's calls."""


class DiffAspect(enum.Enum):
    """The part of a recording that a difference is about. `--only` selects these."""

    CALLS = "calls"
    TIMES = "times"
    BYTES = "bytes"
    COMPILES = "compiles"
    STACK_PATHS = "roads"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that differs between the recordings: `before` and `after`, None if a recording does not have it.

    `name` is the quantity (`calls`, `time of a call`), `of` the part that it measures (a function, `host to device,
    float`). Times are in ns, sizes in bytes.
    """

    about: DiffAspect
    name: str
    of: str
    before: int | None
    after: int | None

    @property
    def change(self) -> int:
        """The increase of the number; a recording without it counts as 0."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class PathFrame:
    """A frame on the stack paths below a line, listed outermost first. Callees follow their caller.

    `depth` is the number of outer frames. `before` and `after` are call counts: 0 if one recording lacks this frame.
    Both recordings may share the frames below it. The last frame of each path is the runtime function, with `language`
    "boundary".
    """

    depth: int
    function: str
    language: str
    place: DisplayedLocation
    before: int
    after: int

    @property
    def is_shared(self) -> bool:
        """Whether both recordings have the frame."""
        return bool(self.before and self.after)


@dataclass(frozen=True, slots=True)
class FunctionDiff:
    """A runtime function whose calls differ. `call_before` and `call_after` are examples; None if there are none."""

    function: str
    quantities: tuple[Quantity, ...]
    call_before: int | None
    call_after: int | None


@dataclass(frozen=True, slots=True)
class LineDiff:
    """The differences of a program line: `before` and `after` are its locations, None if a recording does not have it.

    Both are None for calls without a known Python line. `why` are sentences: differences in compiled programs, and
    reasons for recompilations. The durations are those of all calls of the line into the runtime, in ns, even if they
    differ only by noise.
    """

    before: PythonLine | None
    after: PythonLine | None
    quantities: tuple[Quantity, ...]
    paths: tuple[PathFrame, ...]
    why: tuple[str, ...] = ()
    duration_before: int = 0
    duration_after: int = 0


@dataclass(frozen=True, slots=True)
class RoundDiff:
    """The differences of one iteration of a loop."""

    number: int
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class LoopDiff:
    """The differences of a loop, which is identified by the line that each of its iterations executes."""

    before: PythonLine | None
    after: PythonLine | None
    quantities: tuple[Quantity, ...]
    rounds: tuple[RoundDiff, ...]


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of the two recordings: its captures, their index, and the recorded versions."""

    index: str
    answer: AnswerScope
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences. `unchanged` is the number of lines without differences."""

    before: DiffSide
    after: DiffSide
    functions: tuple[FunctionDiff, ...]
    lines: tuple[LineDiff, ...]
    loops: tuple[LoopDiff, ...]
    devices: tuple[Quantity, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        """Whether the recordings have no differences."""
        return not (self.functions or self.lines or self.loops or self.devices)


def describe_side(index: Index, answer: AnswerScope) -> DiffSide:
    """Describe an index that is restricted to the captures of one side."""
    return DiffSide(str(index.path), answer, _read_recorded_versions(index, answer))


def _read_recorded_versions(index: Index, answer: AnswerScope) -> tuple[tuple[str, str], ...]:
    """Return the recorded versions by name: packages, the plug-in, and its API."""
    found: dict[str, dict[str, None]] = {}
    for capture in answer.captures:
        run = index.observed_capture(capture.id).run()
        for name, version in (*run.versions, ("plug-in", run.plugin), ("PJRT C API", run.api)):
            if version:
                found.setdefault(name, {})[version] = None
    return tuple((name, ", ".join(versions)) for name, versions in found.items())


MIN_BYTES = 1 << 20
"""The smallest change of a line's bytes that counts as worse or better."""

_COMPILES = ("compiles", "failed compiles")


class CostTrend(enum.Enum):
    """The direction in which the cost of a line changed. The members are in display order."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"


def classify_line(line: LineDiff) -> CostTrend:
    """Classify a line by times that differ beyond noise, else by compilations, else by bytes; OTHER if none differ."""
    for change in (
        _time_change(line),
        _sum_changes(_compile_changes(line)),
        _sum_changes(_list_byte_changes(line), MIN_BYTES),
    ):
        if change:
            return CostTrend.WORSE if change > 0 else CostTrend.BETTER
    return CostTrend.OTHER


@dataclass(frozen=True, slots=True)
class CostChange:
    """The time of a line in both recordings, in ns. `name` is the kind of time, such as `in the runtime`."""

    name: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """The increase in ns."""
        return self.after - self.before


def find_cost_change(line: LineDiff) -> CostChange:
    """Return the line's time in the runtime, unless another time beyond noise, such as waiting, changed more."""
    runtime = CostChange(IN_THE_RUNTIME, line.duration_before, line.duration_after)
    others = [
        CostChange(f"{each.name} {each.of}".strip(), each.before or 0, each.after or 0)
        for each in _list_time_changes(line)
    ]
    return max((runtime, *others), key=lambda cost: abs(cost.change))


def sort_worst_first(lines: Iterable[LineDiff]) -> list[tuple[CostTrend, LineDiff]]:
    """Sort lines: worse ones first, then better ones, each with the largest changes first, then the others."""
    ranked = [(classify_line(line), line) for line in lines]
    order = {verdict: number for number, verdict in enumerate(CostTrend)}
    sizes = {CostTrend.WORSE: -1, CostTrend.BETTER: 1, CostTrend.OTHER: 0}
    return sorted(ranked, key=lambda each: (order[each[0]], sizes[each[0]] * find_cost_change(each[1]).change))


def _time_change(line: LineDiff) -> int:
    """Return the largest change of a time beyond noise, in ns; 0 if there is none."""
    return max((each.change for each in _list_time_changes(line)), key=abs, default=0)


def _list_time_changes(line: LineDiff) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is DiffAspect.TIMES)


def _compile_changes(line: LineDiff) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is DiffAspect.COMPILES and each.name in _COMPILES)


def _list_byte_changes(line: LineDiff) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is DiffAspect.BYTES)


def _sum_changes(quantities: Iterable[Quantity], minimum: int = 1) -> int:
    """Return the sum of all changes; 0 if it is smaller than `minimum`."""
    change = sum(each.change for each in quantities)
    return change if abs(change) >= minimum else 0
