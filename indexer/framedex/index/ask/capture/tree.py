"""The calling-context tree of one capture: the nodes that its stacks pass, and the calls at their ends."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.index.read.rows import Reader


@dataclass(frozen=True, slots=True)
class End:
    """The calls of a capture with one stack and boundary function (its id), and the nodes at the stack's end.

    `duration` is in ns. `python_leaf` is 0, or the end of a Python stack that could not be merged.
    """

    stack: int
    boundary: int
    calls: int
    duration: int
    leaf: int
    python_leaf: int


@dataclass(frozen=True, slots=True)
class CaptureTree:
    """The tree; `nodes` are (node, parent or 0, frame), callers before their callees."""

    nodes: tuple[tuple[int, int, int], ...]
    ends: tuple[End, ...]


def capture_tree(reader: Reader, capture: int) -> CaptureTree:
    """Return the tree of a capture; empty if there is no such capture."""
    return reader.memory.recall(("tree", capture), lambda: _read(reader, capture))


def nested_durations(reader: Reader, capture: int) -> dict[tuple[int, int], int]:
    """Return the time (ns) of nested boundary calls by the stack and boundary function of the enclosing call."""
    rows = reader.rows(
        "SELECT stack, boundary, sum(duration - own_duration) FROM call_kinds WHERE capture = ?"
        " GROUP BY stack, boundary",
        capture,
    )
    return {(stack, boundary): duration for stack, boundary, duration in rows}


def _read(reader: Reader, capture: int) -> CaptureTree:
    ends = reader.rows(
        "SELECT x.stack, x.boundary, x.calls, x.duration, s.leaf, s.python_leaf"
        " FROM capture_stacks x JOIN stacks s ON s.id = x.stack WHERE x.capture = ?",
        capture,
    )
    nodes = reader.rows(
        "WITH RECURSIVE ends AS ("
        " SELECT s.leaf, s.python_leaf FROM capture_stacks x JOIN stacks s ON s.id = x.stack WHERE x.capture = ?"
        "), up(node) AS ("
        " SELECT leaf FROM ends UNION SELECT python_leaf FROM ends"
        " UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node"
        ") SELECT n.id, n.parent, n.frame FROM up JOIN nodes n ON n.id = up.node ORDER BY n.depth, n.id",
        capture,
    )
    return CaptureTree(tuple(nodes), tuple(End(*row) for row in ends))
