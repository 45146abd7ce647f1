"""Merge the flame graphs of two recordings: common nodes appear once, with the share of each recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from framedex.model import FlameGraph, FlameKind, FlameNode
from framedex.model.path_trees import strip_build_numbers

_CHANGE_RATIO = 2  # ratio that changes the colour
_ONE_SIDED_RATIO = 20  # ratio that counts as nearly all on one side


@dataclass(frozen=True, slots=True)
class NodeShare:
    """The share of one recording in a node; `duration` in ns."""

    calls: int
    duration: int


@dataclass(frozen=True, slots=True)
class MergedFlameGraph:
    """A graph with the calls and times of both recordings, and the share of each in its nodes, in node order."""

    graph: FlameGraph
    before: tuple[NodeShare, ...]
    after: tuple[NodeShare, ...]


@dataclass(slots=True, eq=False)
class _Node:
    first: FlameNode
    calls: list[int] = field(default_factory=lambda: [0, 0])
    duration: list[int] = field(default_factory=lambda: [0, 0])
    merged: int = 0
    callees: dict[tuple[FlameKind, str], _Node] = field(default_factory=dict)


def merge_flames(before: Iterable[FlameGraph], after: Iterable[FlameGraph]) -> MergedFlameGraph:
    """Merge graphs by the names on the path to each node. Common nodes get the location of the later recording."""
    roots: dict[tuple[FlameKind, str], _Node] = {}
    sides = tuple(before), tuple(after)
    for side, graphs in enumerate(sides):
        for graph in graphs:
            _add_graph(roots, graph, side)
    nodes: list[_Node] = []
    parents: list[int] = []
    pending = [(node, -1) for node in _sort_nodes(roots)]
    while pending:
        node, parent = pending.pop()
        pending.extend((callee, len(nodes)) for callee in _sort_nodes(node.callees))
        nodes.append(node)
        parents.append(parent)
    all_graphs = [graph for graphs in sides for graph in graphs]
    merged = FlameGraph(
        calls=sum(graph.calls for graph in all_graphs),
        duration=sum(graph.duration for graph in all_graphs),
        hidden=sum(graph.hidden for graph in all_graphs),
        merged=sum(graph.merged for graph in all_graphs),
        nodes=tuple(_merge_node(node, parent) for node, parent in zip(nodes, parents, strict=True)),
    )
    shares = [tuple(NodeShare(node.calls[side], node.duration[side]) for node in nodes) for side in (0, 1)]
    return MergedFlameGraph(merged, *shares)


def classify_change(before: int, after: int) -> str:
    """Return how a number of a node changed: `went`, `less`, `same`, `more` or `came`."""
    less, more = sorted((before, after))
    if more <= _CHANGE_RATIO * less:
        return "same"
    if more > _ONE_SIDED_RATIO * less:
        return "came" if after > before else "went"
    return "more" if after > before else "less"


def _add_graph(roots: dict[tuple[FlameKind, str], _Node], graph: FlameGraph, side: int) -> None:
    placed: list[_Node] = []
    for each in graph.nodes:
        siblings = placed[each.parent].callees if each.parent >= 0 else roots
        node = siblings.setdefault((each.kind, strip_build_numbers(each.name)), _Node(each))
        if node.calls[side] == 0:
            node.first = each
        node.calls[side] += each.calls
        node.duration[side] += each.duration
        node.merged += each.merged
        placed.append(node)


def _sort_nodes(nodes: dict[tuple[FlameKind, str], _Node]) -> list[_Node]:
    """Return the nodes, smallest first, as the caller pops the last."""
    return sorted(nodes.values(), key=lambda node: (sum(node.duration), sum(node.calls), node.first.name))


def _merge_node(node: _Node, parent: int) -> FlameNode:
    first = node.first
    return FlameNode(
        parent, first.kind, first.name, sum(node.calls), sum(node.duration), first.frame, first.location, node.merged
    )
