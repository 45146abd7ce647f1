"""Totals along the tree of nodes equal those of a walk through each chain."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from framedex.index.write.chain_totals import PathTree, StackTotals, pack_pair
from framedex.index.write.tree import NodeColumns

FRAMES = 6  # few, so that recursion repeats them
LATEST_RUN = 3


def random_stacks(seed: int) -> tuple[NodeColumns, StackTotals]:
    """A tree, and items with one to three leaves that may share nodes, frames and boundary functions."""
    choose = random.Random(seed)
    count = choose.randrange(2, 120)
    parent = [0] + [choose.randrange(node) for node in range(1, count)]
    frame = [0] + [choose.randrange(1, FRAMES) for _ in range(1, count)]
    rows = []
    for stack in range(choose.randrange(1, 60)):
        others = [choose.choice([0, 0, choose.randrange(count)]) for _ in range(2)]
        calls, run = choose.randrange(1, 9), choose.randrange(1, LATEST_RUN + 1)
        leaves = (choose.randrange(count), *others)
        rows.append((stack, *leaves, choose.randrange(3), calls, calls * 7, stack, run, calls, calls * 5))
    return NodeColumns(np.array(parent), np.array(frame), np.zeros(count, np.int64)), StackTotals(
        *np.array(rows, np.int64).T
    )


def chains(nodes: NodeColumns, items: StackTotals, item: int) -> Iterator[list[int]]:
    """The chains of an item, each with its outermost node first."""
    for leaves in (items.leaf, items.python_leaf, items.site_leaf):
        node, chain = int(leaves[item]), []
        while node:
            chain.append(node)
            node = int(nodes.parent[node])
        yield chain[::-1]


def keys_of(nodes: NodeColumns, items: StackTotals, item: int, kind: str) -> set[int]:
    """The distinct keys of an item: its nodes, its frames, or its pairs of neighbours among the shown frames."""
    found = set()
    for chain in chains(nodes, items, item):
        frames = [int(nodes.frame[node]) for node in chain]
        if kind == "pairs":
            shown = [frame for frame in frames if frame % 3]
            found |= {(above << 32) | below for above, below in pairwise(shown)}
        else:
            found |= set(chain if kind == "nodes" else frames)
    return found


@pytest.mark.parametrize("kind", ["nodes", "frames", "pairs"])
def test_an_item_counts_once_for_each_key_of_its_chains(kind: str) -> None:
    for seed in range(60):
        nodes, items = random_stacks(seed)
        tree = PathTree(nodes, items)
        pairs = pack_pair(*tree.find_neighbours(np.arange(FRAMES) % 3 > 0))
        key = {"nodes": tree.node, "frames": tree.frame, "pairs": pairs}[kind]
        columns = items.calls, items.duration, items.latest_call, items.duration
        place, boundary, calls, duration, latest, longest, run, run_calls, run_duration, run_longest = tree.sum_items(
            items.boundary, np.stack([*columns, items.run, items.run_calls, items.run_duration, items.run_duration])
        )
        found: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
        for row in np.flatnonzero(tree.find_outermost(key)[place]).tolist():
            sums = [calls[row], duration[row], latest[row], longest[row]]
            of_run = [run[row], run_calls[row], run_duration[row], run_longest[row]]
            found[int(key[place[row]]), int(boundary[row])].append([*map(int, sums), *map(int, of_run)])

        expected: dict[tuple[int, int], list[int]] = defaultdict(list)
        for item in range(len(items.stack)):
            for each in keys_of(nodes, items, item, kind):
                expected[each, int(items.boundary[item])].append(item)
        assert {group: merged(rows) for group, rows in found.items()} == {
            group: merged([item_row(items, item) for item in members]) for group, members in expected.items()
        }, seed


def item_row(items: StackTotals, item: int) -> list[int]:
    """The totals of one item, in the order of `PathTree.sum_items`."""
    columns = (items.calls, items.duration, items.latest_call, items.duration)
    of_run = (items.run, items.run_calls, items.run_duration, items.run_duration)
    return [int(column[item]) for column in (*columns, *of_run)]


def merged(rows: list[list[int]]) -> tuple[int, ...]:
    """The totals of several rows: those of a run are of the latest run."""
    calls, duration, latest, longest, runs, *_ = zip(*rows, strict=True)
    of_run = [row[5:] for row in rows if row[4] == max(runs)]
    run_calls, run_duration, run_longest = zip(*of_run, strict=True)
    sums = sum(calls), sum(duration), max(latest), max(longest)
    return *sums, max(runs), sum(run_calls), sum(run_duration), max(run_longest)


def test_each_position_has_its_best_items() -> None:
    for seed in range(60):
        nodes, items = random_stacks(seed)
        tree = PathTree(nodes, items)
        rank = np.array(random.Random(seed).sample(range(len(items.stack)), len(items.stack)))
        place, best = np.concatenate([np.zeros((2, 0), np.int64), *tree.best_items(rank, 3)], axis=1)
        of_node: dict[int, set[int]] = defaultdict(set)
        for position, item_rank in zip(place.tolist(), best.tolist(), strict=True):
            of_node[int(tree.node[position])].add(item_rank)
        passed: dict[int, set[int]] = defaultdict(set)
        for item in range(len(items.stack)):
            for node in keys_of(nodes, items, item, "nodes"):
                passed[node].add(int(rank[item]))
        assert {node: sorted(ranks)[:3] for node, ranks in of_node.items()} == {
            node: sorted(ranks)[:3] for node, ranks in passed.items()
        }, seed
