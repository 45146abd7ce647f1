"""Two merged flame graphs: the share of each recording, and the colours."""

from __future__ import annotations

import pytest

from framedex.diff.flames import NodeShare, classify_change, merge_flames
from framedex.model import FlameGraph, FlameKind, FlameNode


def graph(*nodes: tuple[int, str, int, int]) -> FlameGraph:
    """A graph from nodes as parent, name, calls and ns."""
    made = tuple(
        FlameNode(parent, FlameKind.NATIVE, name, calls, ns, None, None, 0) for parent, name, calls, ns in nodes
    )
    roots = [node for node in made if node.parent < 0]
    return FlameGraph(sum(each.calls for each in roots), sum(each.duration for each in roots), 0, 0, made)


def test_common_nodes_appear_once_with_both_shares() -> None:
    before = graph((-1, "main", 3, 30), (0, "put", 2, 20), (0, "$_1", 1, 10))
    after = graph((-1, "main", 5, 80), (0, "$_2", 5, 80))

    both = merge_flames([before], [after, after])

    assert [(node.parent, node.name) for node in both.graph.nodes] == [(-1, "main"), (0, "$_2"), (0, "put")]
    assert both.before == (NodeShare(3, 30), NodeShare(1, 10), NodeShare(2, 20))
    assert both.after == (NodeShare(10, 160), NodeShare(10, 160), NodeShare(0, 0))
    assert (both.graph.calls, both.graph.duration) == (13, 190)
    assert all(
        node.calls == one.calls + other.calls
        for node, one, other in zip(both.graph.nodes, both.before, both.after, strict=True)
    )


def test_callees_never_exceed_their_callers_in_the_merged_graph() -> None:
    both = merge_flames([graph((-1, "a", 2, 9), (0, "b", 1, 9))], [graph((-1, "a", 2, 9), (0, "c", 1, 9))])

    a, *callees = both.graph.nodes
    assert sum(each.duration for each in callees) == a.duration


def test_no_graphs_merge_into_an_empty_graph() -> None:
    assert merge_flames([], [graph()]).graph.nodes == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (0, 0, "same"),
        (5, 10, "same"),
        (5, 11, "more"),
        (11, 5, "less"),
        (0, 1, "came"),
        (1, 0, "went"),
        (1, 21, "came"),
    ],
)
def test_changes_below_a_factor_of_two_count_as_unchanged(before: int, after: int, expected: str) -> None:
    assert classify_change(before, after) == expected
