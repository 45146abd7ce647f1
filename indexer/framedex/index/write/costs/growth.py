"""The growth of a line's allocated memory per round of a loop."""

from __future__ import annotations

from collections import Counter

import numpy as np

from framedex.index.write.costs.activity import Activity
from framedex.index.write.costs.loops import LoopKey
from framedex.index.write.tree import Integers


class Growth:
    """The growth of groups of pieces by the rounds of the loops around their allocations.

    `nodes` are the nodes of the lines that made the pieces of a capture.
    """

    def __init__(self, activity: Activity, nodes: Integers) -> None:
        self._activity = activity
        self._nodes = nodes
        self._loops = activity.rounds_around(nodes)
        self._starts: dict[LoopKey, Integers] = {}

    def of_pieces(self, pieces: Integers, had_from: Integers, had_until: Integers, size: Integers) -> tuple[int, int]:
        """Return the bytes that each round of a loop leaves, and its rounds: 0 bytes without growth, 0 rounds outside.

        The program has a piece of `size` bytes from `had_from` until `had_until`. The loop is the innermost one that
        makes most of the pieces and leaves some, or else the innermost.
        """
        innermost = 0
        for key in self._loops_of(pieces):
            if key not in self._starts:
                self._starts[key] = self._activity.starts(key)
            starts = self._starts[key]
            if growth := _growth(starts, had_from, had_until, size):
                return growth, len(starts)
            innermost = innermost or len(starts)
        return 0, innermost

    def _loops_of(self, pieces: Integers) -> list[LoopKey]:
        """Return the loops that make most of the pieces, innermost first."""
        nodes, counts = np.unique(self._nodes[pieces], return_counts=True)
        made: Counter[LoopKey] = Counter()
        for node, count in zip(nodes.tolist(), counts.tolist(), strict=True):
            for key in self._loops.get(node, ()):
                made[key] += count
        usual = int(nodes[np.argmax(counts)])
        return [key for key in self._loops.get(usual, ()) if 2 * made[key] > len(pieces)]


def _growth(starts: Integers, had_from: Integers, had_until: Integers, size: Integers) -> int:
    """Return the bytes per round if the bytes before a round never fall, and rise in the later half of the rounds.

    The first round is left out: it compiles. Memory that a program keeps of a round for the next one is not growth.
    """
    begun, ended = np.argsort(had_from, kind="stable"), np.argsort(had_until, kind="stable")
    gained = np.concatenate([[0], np.cumsum(size[begun])])[np.searchsorted(had_from[begun], starts[1:])]
    lost = np.concatenate([[0], np.cumsum(size[ended])])[np.searchsorted(had_until[ended], starts[1:], side="right")]
    before = gained - lost
    if (np.diff(before) < 0).any():
        return 0
    first, middle, last = (int(before[place]) for place in (0, (len(before) - 1) // 2, -1))
    return (last - first) // (len(before) - 1) if first < middle < last else 0
