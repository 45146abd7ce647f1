"""Answers about compiled programs: the programs with a line, their compilations, and their runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.locations import Location
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class Compilation:
    """A call that created an executable; `duration` in ns, -1 if it never returned. `line` led to the call."""

    call: int
    capture: int
    duration: int
    line: PythonLine | None


@dataclass(frozen=True, slots=True)
class ProgramRuns:
    """The runs of a program from one line; `total_duration` is in ns.

    A call may return before its program ends: the duration is the time in the calls.
    """

    line: PythonLine | None
    calls: int
    total_duration: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """A line named in a program, its function (empty if not named), and the number of ops from it."""

    location: Location
    function: str
    ops: int


@dataclass(frozen=True, slots=True)
class ProgramUse:
    """The programs of one name with ops from a line, their compilations and their runs.

    `programs` is the number of programs, `compiled` the number of compilations; `compilations` has the latest ones.
    `root` is the transformed function, such as `jit(f)`, empty if no op names it. `ops` are the ops of the line itself,
    by kind (StableHLO: `sine`) with their number, most frequent first. `names` are JAX's names (`jit(f)/sin`). `inward`
    are lines of functions called from here, `outward` the lines that called this line's function, both during tracing.
    `is_outside`: the line is not in the program, but tracing started from it. `problem` describes missing facts.
    """

    name: str
    programs: int
    root: str
    ops: tuple[tuple[str, int], ...]
    names: tuple[str, ...]
    inward: tuple[ProgramLine, ...]
    outward: tuple[ProgramLine, ...]
    compiled: int
    compilations: tuple[Compilation, ...]
    runs: tuple[ProgramRuns, ...]
    is_outside: bool = False
    problem: str = ""

    @property
    def calls(self) -> int:
        """The number of runs."""
        return sum(each.calls for each in self.runs)

    @property
    def total_duration(self) -> int:
        """The total duration of all runs, in ns."""
        return sum(each.total_duration for each in self.runs)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The programs of one name that were run or compiled by calls through a line. `total_duration` is in ns.

    `lines` are lines inside, those with the most ops first. If no program is known, `problem` says why.
    """

    name: str
    compiled: int
    calls: int
    total_duration: int
    latest_call: int
    lines: tuple[ProgramLine, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProgramMark:
    """A line that ops of programs come from: the number of ops, and the names of those programs."""

    line: int
    ops: int
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearestLine:
    """A line with known calls or ops: the calls that passed it, the ops that come from it, and their programs."""

    location: Location
    calls: int
    ops: int
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearestLines:
    """The reason why a line has no data, as a clause, and the nearest lines with calls or ops."""

    why: str
    lines: tuple[NearestLine, ...]
