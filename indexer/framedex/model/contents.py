"""The content of one capture: its calls by boundary function, and its stacks as one tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model.places import Location


@dataclass(frozen=True, slots=True)
class BoundaryTotals:
    """The totals of a boundary function in a capture; `duration` in ns, `id` is the function's id in the index.

    If calls are filtered, only calls that pass the filter count.
    """

    id: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


class FlameKind(StrEnum):
    """The kind of a flame graph node."""

    PYTHON = "python"
    NATIVE = "native"
    BOUNDARY = "boundary"  # the boundary function itself, innermost
    UNMERGED = "unmerged"  # native stacks that could not be merged with the Python ones
    OTHERS = "others"  # siblings too small to show


@dataclass(frozen=True, slots=True)
class FlameNode:
    """A function in the context of its callers: all paths through the same functions are one node.

    `parent` is the index of its caller in the graph, -1 for the outermost. `calls` and `duration` (nanoseconds) include
    all inner nodes. `frame` is its frame with the most time, None for a node without frames; `location` is the location
    of that frame. For `others`, `name` is empty and `merged` is their number.
    """

    parent: int
    kind: FlameKind
    name: str
    calls: int
    duration: int
    frame: int | None
    location: Location | None
    merged: int


@dataclass(frozen=True, slots=True)
class FlameGraph:
    """The calling-context tree of a capture, or of one boundary function in it; callers precede callees.

    `hidden` counts the omitted interpreter and glue frames, `merged` the functions in `others`.
    """

    calls: int
    duration: int
    hidden: int
    merged: int
    nodes: tuple[FlameNode, ...]
