"""A flame graph as boxes, outermost functions at the top, and its functions by the time of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import FlameGraph, FlameKind, FlameNode, Location

HEIGHT = 18
"""Of a box, in pixels."""

_NARROWEST = 0.02  # percent of the width


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
class OwnTime:
    """A function and the time in which it was innermost, ns; `location` is where it was longest."""

    name: str
    kind: FlameKind
    calls: int
    duration: int
    location: Location | None


def boxes(graph: FlameGraph) -> Iterator[Box]:
    """The nodes that are wide enough to be seen, callers before their callees, by time; by calls where none was taken."""
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


def own_times(graph: FlameGraph) -> list[OwnTime]:
    """The functions by the time that they were innermost for, longest first."""
    own = [node.duration for node in graph.nodes]
    for node in graph.nodes:
        if node.parent >= 0:
            own[node.parent] -= node.duration
    groups: dict[tuple[str, FlameKind], list[tuple[int, FlameNode]]] = {}
    for duration, node in zip(own, graph.nodes, strict=True):
        if node.name:
            groups.setdefault((node.name, node.kind), []).append((max(duration, 0), node))
    found = []
    for (name, kind), nodes in groups.items():
        longest = max(nodes, key=lambda each: each[0])[1]
        calls = sum(node.calls for _, node in nodes)
        found.append(OwnTime(name, kind, calls, sum(duration for duration, _ in nodes), longest.location))
    return sorted(found, key=lambda each: (-each.duration, each.name))
