"""The tree of stacks: chains of recorded frames give the same nodes as a dictionary of paths."""

from __future__ import annotations

import random

import numpy as np
import pytest

from framedex_native import _call_stream


def test_equal_paths_are_one_node_with_numbers_in_order_of_first_appearance() -> None:
    choose = random.Random(1)
    logical = [[choose.randrange(1, 9) for _ in range(choose.randrange(3))] for _ in range(12)]
    tree = _call_stream.StackTree(np.array([0, 0, 1]), np.array([0, 3, 4]))
    oracle = {(0, 3): 1, (1, 4): 2}
    for _ in range(20):
        chains = [[choose.randrange(12) for _ in range(choose.randrange(9))] for _ in range(200)]
        leaves = []
        for chain in chains:
            node = 0
            for recorded in reversed(chain):
                for frame in logical[recorded]:
                    node = oracle.setdefault((node, frame), len(oracle) + 1)
            leaves.append(node)
        frames = [frame for chain in chains for frame in chain]
        found = tree.intern_chains(
            np.array(frames, np.int64),
            np.array([*map(len, chains)]),
            np.array([frame for of_frame in logical for frame in of_frame]),
            np.cumsum([*map(len, logical)]),
        )
        assert found.tolist() == leaves
    parents, added = tree.take_unwritten()
    assert list(zip(parents.tolist(), added.tolist(), strict=True)) == [*oracle][2:]
    assert [len(column) for column in tree.take_unwritten()] == [0, 0]
    assert tree.intern(2, 99) == len(oracle) + 1


def test_chains_with_unknown_frames_are_refused() -> None:
    tree = _call_stream.StackTree(np.array([0]), np.array([0]))
    one = np.array([1])
    with pytest.raises(IndexError):
        tree.intern_chains(one, one, np.array([5]), one)
    with pytest.raises(ValueError, match="more frames"):
        tree.intern_chains(one, np.array([2]), np.array([5]), one)
