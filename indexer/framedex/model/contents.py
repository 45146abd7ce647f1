"""What one capture holds: its calls by boundary function, and its stacks as one tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model.places import Location


@dataclass(frozen=True, slots=True)
class BoundaryTotals:
    """The totals of the calls of a boundary function in a capture; `duration` in ns, `id` the function's in the index.

    Where calls are filtered, only those that pass the filter count.
    """

    id: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


class FlameKind(StrEnum):
    """What a node of a flame graph stands for."""

    PYTHON = "python"
    NATIVE = "native"
    BOUNDARY = "boundary"  # the boundary function itself, innermost
    UNMERGED = "unmerged"  # native stacks that could not be merged with the Python ones
    OTHERS = "others"  # siblings too small to be told apart


@dataclass(frozen=True, slots=True)
class FlameNode:
    """A function in the context of its callers: all paths of the tree that pass the same functions are one node.

    `parent` is the position of its caller in the graph, -1 for the outermost. `calls` and `duration` (nanoseconds) are
    those of all calls here and further in. `frame` is the one of its frames in which most time was spent, None for
    a node without frames; `location` is where that stood. For `others`, `name` is empty and `merged` their number.
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
    """The calling-context tree of a capture, or of one boundary function in it; callers come before their callees.

    `hidden` counts the interpreter's and glue frames that were passed over, `merged` the functions in `others`.
    """

    calls: int
    duration: int
    hidden: int
    merged: int
    nodes: tuple[FlameNode, ...]
