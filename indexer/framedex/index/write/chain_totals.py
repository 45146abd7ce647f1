"""Totals of the nodes in the chains of items, summed from the leaves to the root.

Stacks share their outer parts. So a node is read once for each boundary function below it, not once for each stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.index.write.bulk_rows import Integers
from framedex.index.write.tree import NodeColumns, find_distinct_values

Flags = npt.NDArray[np.bool_]

_LOW_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class StackTotals:
    """Columns of equal length: a stack, its leaf nodes (0: none), a boundary function, and the totals of the calls.

    `latest_call` is the last call of the capture that began last, independent of the order of reading. `run` is the
    latest run that has calls of the item; `run_calls` and `run_duration` are the totals of that run.
    """

    stack: Integers
    leaf: Integers
    python_leaf: Integers
    site_leaf: Integers
    boundary: Integers
    calls: Integers
    duration: Integers
    latest_call: Integers
    run: Integers
    run_calls: Integers
    run_duration: Integers

    @classmethod
    def from_run_columns(cls, run: int, columns: Integers) -> StackTotals:
        """Return the items of one run from the first eight columns."""
        run_columns = np.full(columns.shape[1], run, np.int64), columns[5], columns[6]
        return cls(*np.concatenate([columns, run_columns]))

    def __getitem__(self, rows: Integers) -> StackTotals:
        return StackTotals(*(getattr(self, name)[rows] for name in self.__slots__))

    @property
    def leaves(self) -> Integers:
        """The leaves of each item, three in a row."""
        return np.stack([self.leaf, self.python_leaf, self.site_leaf], axis=1)


class PathTree:
    """The nodes in the chains of items, as a tree in which each item is one path: from position 0, the root, to `leaf`.

    If an item has several leaves, copies of the chains of the others are below its first leaf. `node` and `frame` have
    the node and the frame of each position.
    """

    def __init__(self, nodes: NodeColumns, items: StackTotals) -> None:
        # Only the nodes in these chains: an index may have a million other nodes.
        passed = find_passed_nodes(nodes, items)
        self.node = passed
        self.parent = np.searchsorted(passed, nodes.parent[passed])
        self._caller = self.parent
        self._append_copies(np.searchsorted(passed, items.leaves))
        self.frame = nodes.frame[self.node]
        self._find_levels()

    def _append_copies(self, leaves: Integers) -> None:
        """Set the leaf of each item, and append copies of the chains of its other leaves."""
        self.leaf: Integers = leaves.max(axis=1, initial=0)
        copies: dict[tuple[int, int], int] = {}  # parent and original of each copy
        outermost = set()
        for item in np.flatnonzero(np.count_nonzero(leaves, axis=1) > 1).tolist():
            tip, *others = (leaf for leaf in leaves[item].tolist() if leaf)
            for leaf in others:
                path = list(self._ancestors(leaf))
                for original in reversed(path):
                    copy = copies.setdefault((tip, original), len(self.node) + len(copies))
                    if original == path[-1]:
                        outermost.add(copy)
                    tip = copy
            self.leaf[item] = tip
        above, copied = np.array([*copies], np.int64).reshape(-1, 2).T
        of_copy = np.arange(len(copies)) + len(self.node)
        self._caller = np.concatenate([self._caller, np.where(np.isin(of_copy, [*outermost]), 0, above)])
        self.parent = np.concatenate([self.parent, above])
        self.node = np.concatenate([self.node, self.node[copied]])

    def _ancestors(self, position: int) -> Iterator[int]:
        while position:
            yield position
            position = int(self.parent[position])

    def _find_levels(self) -> None:
        """Find the positions of each depth, and the range of each position's descendants in depth-first order."""
        count = len(self.node)
        children = np.argsort(self.parent[1:], kind="stable") + 1  # grouped by parent
        number = np.bincount(self.parent[1:], minlength=count)
        first = np.cumsum(number) - number
        level = np.zeros(1, np.int64)
        self.levels = []
        while len(level):
            self.levels.append(level)
            level = children[_concatenate_ranges(first[level], number[level])]
        size = np.ones(count, np.int64)
        for level in reversed(self.levels[1:]):
            np.add.at(size, self.parent[level], size[level])
        before = np.cumsum(size[children]) - size[children]
        step = np.zeros(count, np.int64)
        step[children] = 1 + before - before[first[self.parent[children]]]
        self._begin = np.zeros(count, np.int64)
        for level in self.levels[1:]:
            self._begin[level] = self._begin[self.parent[level]] + step[level]
        self._last = self._begin + size - 1

    def find_outermost(self, key: Integers) -> Flags:
        """Return whether each position is the first of its path with its key. Keys are positive; -1 is no key.

        An item counts once per key, even if recursion repeats the key on its path.
        """
        order = np.lexsort((self._begin, key))
        in_order = key[order]
        offset = np.cumsum(np.diff(in_order, prepend=in_order[:1]) != 0) * (len(key) + 1)
        last = np.maximum.accumulate(offset + self._last[order])
        is_first = np.concatenate([[-1], last[:-1]]) < offset + self._begin[order]
        flags = np.zeros(len(key), np.bool_)
        flags[order] = is_first & (in_order > 0)
        return flags

    def find_neighbours(self, shown: Flags) -> tuple[Integers, Integers]:
        """Return the frames of the next outer `shown` neighbour and of each position; -1 where there is no pair."""
        visible = shown[self.frame]
        caller = self._caller.copy()
        while len(passed := np.flatnonzero(~visible[caller] & (caller > 0))):
            caller[passed] = self._caller[caller[passed]]
        is_pair = visible & (caller > 0)
        return np.where(is_pair, self.frame[caller], -1), np.where(is_pair, self.frame, -1)

    def best_items(self, rank: Integers, count: int) -> Iterator[Integers]:
        """Yield the items of the lowest ranks of each position, at most `count`: columns of positions and ranks.

        Positions of the same depth are yielded together.
        """
        rows = np.zeros((2, 0), np.int64)
        for level, added in self._iterate_levels(np.stack([self.leaf, rank])):
            above = np.stack([self.parent[rows[0]], rows[1]])
            rows = np.concatenate([above, added], axis=1)
            rows = rows[:, np.lexsort(rows[::-1])]
            rows = rows[:, rank_in_group(rows[0]) < count]
            if level:
                yield rows

    def _iterate_levels(self, columns: Integers) -> Iterator[tuple[int, Integers]]:
        """Yield the levels from the deepest one, each with the columns of the items that end there.

        The first column has the positions of the items.
        """
        level_of = np.zeros(len(self.node), np.int64)
        for level, positions in enumerate(self.levels):
            level_of[positions] = level
        level_of_item = level_of[columns[0]]
        order = np.argsort(level_of_item, kind="stable")
        ends = np.searchsorted(level_of_item[order], np.arange(len(self.levels) + 1))
        for level in reversed(range(len(self.levels))):
            yield level, columns[:, order[ends[level] : ends[level + 1]]]

    def sum_items(self, boundary: Integers, columns: Integers) -> Integers:
        """Return one row of totals for each position and boundary function, as columns.

        Rows of `columns` and of the result: calls, duration, latest, longest, run, run_calls, run_duration and
        run_longest. The result has the position and the boundary function before them.
        """
        boundaries, number = np.unique(boundary, return_inverse=True)
        count = max(len(boundaries), 1)
        found = []
        rows = np.zeros((len(columns) + 2, 0), np.int64)
        for level, added in self._iterate_levels(np.concatenate([[self.leaf, number], columns])):
            above = np.concatenate([self.parent[rows[:1]], rows[1:]])
            rows = _merge_rows(np.concatenate([above, added], axis=1), count)
            if level:
                found.append(rows)
        totals = np.empty((len(rows), sum(each.shape[1] for each in found)), np.int64)
        end = 0
        found.reverse()
        while found:  # a level's memory is freed once it is copied
            begin, end = end, end + found[-1].shape[1]
            totals[:, begin:end] = found.pop()
        totals[1] = boundaries[totals[1]]
        return totals


_SUMS, _MAXIMA, _RUN, _RUN_SUMS, _RUN_MAXIMUM = slice(2, 4), slice(4, 7), 6, slice(7, 9), slice(9, 10)


def _merge_rows(rows: Integers, boundaries: int) -> Integers:
    """Merge the rows of one position and boundary function. The totals by run are the totals of the latest run."""
    key = rows[0] * boundaries + rows[1]
    order = np.argsort(key, kind="stable")
    rows, key = rows[:, order], key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    merged = rows[:, starts]
    if len(starts) == len(key):
        return merged
    merged[_SUMS] = np.add.reduceat(rows[_SUMS], starts, axis=1)
    merged[_MAXIMA] = np.maximum.reduceat(rows[_MAXIMA], starts, axis=1)
    rows[7:] *= rows[_RUN] == np.repeat(merged[_RUN], np.diff(starts, append=len(key)))
    merged[_RUN_SUMS] = np.add.reduceat(rows[_RUN_SUMS], starts, axis=1)
    merged[_RUN_MAXIMUM] = np.maximum.reduceat(rows[_RUN_MAXIMUM], starts, axis=1)
    return merged


def find_passed_nodes(nodes: NodeColumns, items: StackTotals) -> Integers:
    """Return the nodes of the chains of these items and the root, sorted."""
    parent = nodes.parent
    is_passed = np.zeros(len(parent), np.bool_)
    is_passed[0] = True
    node = find_distinct_values(items.leaves.reshape(-1))
    while len(node := node[~is_passed[node]]):
        is_passed[node] = True
        node = find_distinct_values(parent[node])
    return np.flatnonzero(is_passed)


def _concatenate_ranges(first: Integers, count: Integers) -> Integers:
    """Return the integers of ranges, given by their first integers and lengths."""
    offset = np.repeat(first - np.cumsum(count) + count, count)
    return offset + np.arange(len(offset))


def pack_pair(left: Integers, right: Integers) -> Integers:
    """Return pairs of ids as single integers; -1 where there is no pair."""
    return np.where(left < 0, -1, (left << 32) | right)


def unpack_pair(pair: Integers) -> tuple[Integers, Integers]:
    """Return the two ids of each pair."""
    return pair >> 32, pair & _LOW_BITS


def rank_in_group(group: Integers) -> Integers:
    """Return the rank of each element within its group of equal elements. Equal elements must be adjacent."""
    starts = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    return np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
