"""A flame graph as boxes, outermost functions at the top, and its functions by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framedex.model import FlameGraph, FlameKind, FlameNode
from framedex.placetext import cell_name

if TYPE_CHECKING:
    from framedex.model import Location

HEIGHT = 18
"""The height of a box, in pixels."""

_NARROWEST = 0.02  # percent of the width
_LEADING = (FlameKind.PYTHON, FlameKind.NATIVE)


@dataclass(frozen=True, slots=True)
class Box:
    """A function in the context of its callers; `left` and `width` in percent, `top` in pixels.

    `node` is the position of its node in the graph.
    """

    name: str
    kind: FlameKind
    left: float
    width: float
    top: int
    calls: int
    duration: int
    location: Location | None
    node: int


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function with the time of its calls, including callees, in ns; `location` is that of its longest node."""

    name: str
    calls: int
    duration: int
    location: Location | None


def boxes(graph: FlameGraph) -> Iterator[Box]:
    """The boxes that are wide enough to be visible, callers first; the width is the time, or calls without times."""
    whole = graph.duration or graph.calls or 1
    placed: list[tuple[float, int]] = []  # left and depth of each node
    ends: dict[int, float] = {}
    for position, node in enumerate(graph.nodes):
        left, depth = placed[node.parent] if node.parent >= 0 else (0.0, -1)
        left = ends.get(node.parent, left)
        width = 100 * (node.duration if graph.duration else node.calls) / whole
        ends[node.parent] = left + width
        placed.append((left, depth + 1))
        if width >= _NARROWEST:
            name = node.name or f"{node.merged:,} smaller functions"
            yield Box(
                name, node.kind, left, width, (depth + 1) * HEIGHT, node.calls, node.duration, node.location, position
            )


def within_cells(graph: FlameGraph) -> FlameGraph:
    """The graph without the callers of notebook cells, if it has cells. Cells appear under their own names."""
    outermost: set[int] = set()
    inside: list[bool] = []  # whether a node is a cell or below one
    for number, node in enumerate(graph.nodes):
        is_below = node.parent >= 0 and inside[node.parent]
        is_cell = node.location is not None and bool(cell_name(node.location.path))
        inside.append(is_below or is_cell)
        if is_cell and not is_below:
            outermost.add(number)
    around: set[int] = set()
    for number in outermost:
        at = graph.nodes[number].parent
        while at >= 0 and at not in around:
            around.add(at)
            at = graph.nodes[at].parent
    places = {-1: -1}
    kept: list[FlameNode] = []
    for number, node in enumerate(graph.nodes):
        if number not in around:
            places[number] = len(kept)
            name = node.name
            if number in outermost and name == "<module>" and node.location is not None:
                name = cell_name(node.location.path)
            kept.append(replace(node, name=name, parent=places.get(node.parent, -1)))
    return replace(graph, nodes=tuple(kept))


def by_time(graph: FlameGraph) -> list[FunctionTime]:
    """The functions that led into the runtime, by time, longest first, or by calls without times.

    The runtime's own functions are left out.
    """
    groups: dict[str, list[FlameNode]] = {}
    within: list[frozenset[str]] = []  # the functions above each node: a recursive function counts once
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
            max(nodes, key=lambda each: (each.duration, each.calls)).location,
        )
        for name, nodes in groups.items()
    ]
    return sorted(found, key=lambda each: (-each.duration, -each.calls))
