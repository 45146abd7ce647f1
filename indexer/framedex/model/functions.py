"""Answers about a function: its callers and callees, and the totals of the calls through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.places import Location
    from framedex.model.rows import FunctionRow


@dataclass(frozen=True, slots=True)
class Edge:
    """A recorded caller and callee: `calls` counts the boundary calls through both, `sites` are the caller's lines."""

    caller: FunctionRow
    callee: FunctionRow
    calls: int
    sites: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class FunctionMark:
    """The totals of the calls through a function: `duration` in ns, None if it is not known separately."""

    name: str
    calls: int
    duration: int | None
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsideProgram:
    """A function inside a compiled program, by name, and its line with the most ops."""

    program: str
    function: str
    location: Location


@dataclass(frozen=True, slots=True)
class MeantFunctions:
    """The called functions that match a name, best first: the user's own, then those with the most calls.

    `is_name`: the name equals theirs, or its last parts. Otherwise it is a substring of each. Then the first `likely`
    functions are of the preferred kind: the user's own, or names that contain it as whole words. `count` is the number
    of matches; `functions` may have only the first of them.
    """

    functions: tuple[FunctionRow, ...]
    is_name: bool
    likely: int
    count: int
