"""What the index answers of a function: who called whom, and what the calls through it came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.places import Location
    from framedex.model.rows import FunctionRow


@dataclass(frozen=True, slots=True)
class Edge:
    """A recorded caller and callee: `calls` counts the boundary calls that passed, `sites` are the caller's lines."""

    caller: FunctionRow
    callee: FunctionRow
    calls: int
    sites: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class FunctionMark:
    """The totals of the calls through a function: `duration` in ns, None where it is not known for this one alone."""

    name: str
    calls: int
    duration: int | None
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsideProgram:
    """A function that runs inside a compiled program, by their names, and the line of it that has most ops there."""

    program: str
    function: str
    location: Location


@dataclass(frozen=True, slots=True)
class MeantFunctions:
    """The called functions that a name may mean, best first: the user's own, then those with most calls.

    `is_name`: they have this name, or it is the last parts of theirs. Else it is a part of each; the first `likely`
    ones are of one kind, which goes before the others: the user's own, or those that have it as whole words. `count`
    are all that fit, of which `functions` may be the first only.
    """

    functions: tuple[FunctionRow, ...]
    is_name: bool
    likely: int
    count: int
