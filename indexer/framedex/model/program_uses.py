"""What the index answers of compiled programs: which a line is in, what compiled them, and what ran them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.places import Location
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class Compilation:
    """A call that made an executable; `duration` in ns, -1 if it never returned. `line` is the one that led to it."""

    call: int
    capture: int
    duration: int
    line: PythonLine | None


@dataclass(frozen=True, slots=True)
class ProgramRuns:
    """The runs of a program from one line; `total_duration` in ns: of the calls, which may return before it is done."""

    line: PythonLine | None
    calls: int
    total_duration: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """A line that a program names, the function that it is in (empty: not said), and how many ops come by it."""

    location: Location
    function: str
    ops: int


@dataclass(frozen=True, slots=True)
class ProgramUse:
    """The programs of one name that have ops of a line: how they came to be, and what ran them.

    `programs` is how many there are, `compilations` are the latest of the `compiled` ones. `root` is what was
    transformed, such as `jit(f)`, empty where no op says it. `ops` are the ops of the line itself, by kind
    (StableHLO's: `sine`) with their number, most first; `names` as JAX has them (`jit(f)/sin`). `inward` are lines of
    functions that were called from here, `outward` those from which the line's function was called, both while it was
    traced. `is_outside`: the line is not in the program; tracing was begun from it. `problem` says what is not known.
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
        """How many runs there were."""
        return sum(each.calls for each in self.runs)

    @property
    def total_duration(self) -> int:
        """What all of them took, in ns."""
        return sum(each.total_duration for each in self.runs)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The programs of one name that calls through a line ran or compiled; `total_duration` of the runs in ns.

    `lines` are lines inside, those with most ops first; without a known program, `problem` says why.
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
    """A line that ops of programs come from: how many, and the names of those programs."""

    line: int
    ops: int
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearLine:
    """A line of which something is known: the calls that passed it, the ops that come from it, and their programs."""

    location: Location
    calls: int
    ops: int
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nearby:
    """Why nothing is known of a line, as a clause, and the nearest lines of which something is."""

    why: str
    lines: tuple[NearLine, ...]
