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
