"""The time from the start of a process until the end of its first step, as a tree with Python lines."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


PHASE_DESCRIPTIONS = ("process", "phase")
"""The kinds of descriptions in a capture that have its phases."""


class PhaseKind(enum.Enum):
    """A kind of phase that framedex's hooks in Python time; the values are the names in recordings."""

    PROCESS = "process"  # until the hooks are installed
    IMPORT = "import"
    BACKEND = "backend"
    TRACE = "trace"
    LOWER = "lower"
    COMPILE = "compile"
    LOOKUP = "lookup"  # the time at which the key of the compilation cache was computed, inside a compilation
    LOAD = "load"  # from the compilation cache, inside a compilation


class StartupPart(enum.Enum):
    """A part of a start. Parts do not overlap: the time of each excludes the parts inside it."""

    INTERPRETER = "interpreter start"
    UNFOLLOWED = "before framedex was loaded"
    IMPORTS = "imports"
    BACKENDS = "backend start"
    TRACING = "tracing"
    LOWERING = "lowering"
    COMPILING = "compiling"
    CACHE_LOOKUP = "compilation cache: look-up"
    CACHE_LOAD = "compilation cache: load"
    TRANSFERS = "transfers"
    RUNS = "earlier runs"
    FIRST_STEP = "first step"
    OTHER_CALLS = "other calls into the runtime"
    OTHER_PYTHON = "other Python"


@dataclass(frozen=True, slots=True)
class StartupRow:
    """The time of one name and line in a part; `duration` in ns.

    `name` is the imported package, the started backends, the function that JAX prepared, or the operation that moved
    data. `line` is the innermost line of the program itself that led to it, None if unknown.
    """

    name: str
    line: PythonLine | None
    count: int
    duration: int


@dataclass(frozen=True, slots=True)
class StartupTotals:
    """The time of one part, `duration` in ns, and its rows, longest first."""

    part: StartupPart
    count: int
    duration: int
    rows: tuple[StartupRow, ...]


@dataclass(frozen=True, slots=True)
class TracedLine:
    """The ops that a line of the program itself adds to the programs that were traced.

    `function` is empty if it adds them to several functions. `ops` counts those for which it is the innermost line of
    the program itself. If the line adds the same ops repeatedly, as a Python loop does, `repeats` is the number of
    repetitions. `repeated_ops` is the number of these ops, including those of called functions. Otherwise they are 1
    and 0.
    """

    function: str
    line: PythonLine
    ops: int
    repeats: int
    repeated_ops: int


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """The lines behind an XLA module such as `jit_step`: those that add most ops, and the one that compiled it."""

    name: str
    lines: tuple[TracedLine, ...]
    compiled_by: PythonLine | None


@dataclass(frozen=True, slots=True)
class Startup:
    """The time from the start of a process until the return of its first step; `duration` in ns.

    The first step is the first run, by `call` from `line`, of the program that took longest to prepare. If another
    program took about as long and runs in a loop, it is the first run of that one. `function` is its function. If no
    program ran, `call` is 0, and the time ends with the last preparation. `parts` are in the order of `StartupPart`;
    they add up to `duration`. They are those of the thread of the first step: `elsewhere` is the time, in ns, for which
    other threads prepared programs meanwhile. `traced_lines` have the most ops first, of all traced programs.
    `is_complete` is false if later phases are missing because the capture reached its limit.
    """

    capture: int
    duration: int
    function: str
    line: PythonLine | None
    call: int
    parts: tuple[StartupTotals, ...]
    traced_lines: tuple[TracedLine, ...]
    elsewhere: int
    is_complete: bool

    def duration_of(self, *parts: StartupPart) -> int:
        """Return the time of some parts in ns."""
        return sum(each.duration for each in self.parts if each.part in parts)
