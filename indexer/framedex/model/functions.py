"""Answers about a function: its callers and callees, the totals of the calls through it, and the lines above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.guidebook import DisplayedFrame
    from framedex.model.locations import Location
    from framedex.model.rows import FunctionRow, PythonLine


@dataclass(frozen=True, slots=True)
class CallEdge:
    """A recorded caller and callee: `calls` counts the boundary calls through both, `sites` are the caller's lines."""

    caller: FunctionRow
    callee: FunctionRow
    calls: int
    sites: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class FunctionCallTotals:
    """The totals of the calls through a function: `duration` in ns, None if it is not known separately."""

    name: str
    calls: int
    duration: int | None
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function inside a compiled program, by name, and its line with the most ops."""

    program: str
    function: str
    location: Location


@dataclass(frozen=True, slots=True)
class MatchingFunctions:
    """The called functions that match a name, best first: the user's own, then those with the most calls.

    `is_name`: the queried name equals the whole name of each function, or its last parts. Otherwise it is a substring
    of each name. Then the first `likely` functions are the user's own, or contain the queried name as whole words.
    `count` is the number of matches; `functions` may have only the first of them.
    """

    functions: tuple[FunctionRow, ...]
    is_name: bool
    likely: int
    count: int


@dataclass(frozen=True, slots=True)
class LineCallee:
    """Calls of one runtime function from one line, all along the same stack path.

    `line` is the innermost line of the program itself (None: no Python is known). `path` has the frames from it to the
    call, outermost first, the function itself last. `duration` is in ns, without the recorded calls inside.
    `undisturbed` is the duration if each call were as fast as the fastest tenth of them.
    """

    line: PythonLine | None
    function: str
    path: tuple[DisplayedFrame, ...]
    calls: int
    duration: int
    undisturbed: int
