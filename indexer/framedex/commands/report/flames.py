"""A flame graph as boxes, outermost functions at the top, and its functions by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.model import FlameKind

if TYPE_CHECKING:
    from framedex.model import FlameGraph, FlameNode, Location

HEIGHT = 18
"""Of a box, in pixels."""

_NARROWEST = 0.02  # percent of the width
_LEADING = (FlameKind.PYTHON, FlameKind.NATIVE)


@dataclass(frozen=True, slots=True)
class Box:
    """A function in the context of its callers; `left` and `width` in percent, `top` in pixels."""

    name: str
    kind: FlameKind
    left: float
    width: float
    top: int
    calls: int
    duration: int
    location: Location | None


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function with the time of its calls and of all that they led to, ns; `location` is where it was longest."""

    name: str
    calls: int
    duration: int
    location: Location | None


def boxes(graph: FlameGraph) -> Iterator[Box]:
    """The nodes that are wide enough to be seen, callers first; by time, or by calls where none was taken."""
    whole = graph.duration or graph.calls or 1
    placed: list[tuple[float, int]] = []  # left and depth of each node
    ends: dict[int, float] = {}
    for node in graph.nodes:
        left, depth = placed[node.parent] if node.parent >= 0 else (0.0, -1)
        left = ends.get(node.parent, left)
        width = 100 * (node.duration if graph.duration else node.calls) / whole
        ends[node.parent] = left + width
        placed.append((left, depth + 1))
        if width >= _NARROWEST:
            name = node.name or f"{node.merged:,} smaller functions"
            yield Box(name, node.kind, left, width, (depth + 1) * HEIGHT, node.calls, node.duration, node.location)


def by_time(graph: FlameGraph) -> list[FunctionTime]:
    """The functions that led into the runtime, by time, longest first; the runtime's own are not among them."""
    groups: dict[str, list[FlameNode]] = {}
    within: list[frozenset[str]] = []  # the functions above each node: one that calls itself counts once
    for node in graph.nodes:
        above = within[node.parent] if node.parent >= 0 else frozenset()
        if node.kind in _LEADING and node.name not in above:
            groups.setdefault(node.name, []).append(node)
            above |= {node.name}
        within.append(above)
    found = [
        FunctionTime(
            name,
            sum(node.calls for node in nodes),
            sum(node.duration for node in nodes),
            max(nodes, key=lambda each: each.duration).location,
        )
        for name, nodes in groups.items()
    ]
    return sorted(found, key=lambda each: -each.duration)
