"""Alignment of a function's compiled calls with its written calls.

Every path through the machine code executes calls in source order. Dynamic programming finds two best matches for
each compiled call: for the paths before it, and for the paths after it. The best match has the most calls that appear
in the source in the same order. Loops are traversed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float64]
"""The evidence of one compiled call for each written call; 0 means no match."""

_MOST_CELLS = 1 << 20  # compiled calls times written calls; aligning more takes too long for one line
_MOST_STEPS = 1 << 24  # edges between stretches times written calls: the 8-byte numbers in memory


class Stretch(NamedTuple):
    """A basic block: the indices of its calls, and the indices of its predecessors."""

    calls: range
    after: Sequence[int]


class Alignment:
    """Scores for the calls before and after each compiled call, matched with those around each written call."""

    def __init__(
        self, flow: Sequence[Stretch], weights: Callable[[int], tuple[Weights, Weights] | None], written: int
    ) -> None:
        """Align the compiled calls of `flow` with `written` calls.

        `flow` lists each stretch after its predecessors. `weights` returns two arrays for a compiled call: scores of
        written calls that are this call, and scores of written calls with a callee that makes it. One written call of
        the second kind can match several compiled calls in a row.
        """
        self._before: dict[int, Weights] = {}
        self._after: dict[int, Weights] = {}
        steps = sum(len(stretch.after) + 1 for stretch in flow)
        if sum(len(stretch.calls) for stretch in flow) * written > _MOST_CELLS or steps * written > _MOST_STEPS:
            return
        nothing = np.zeros(written + 1)
        ends: list[Weights] = []
        for stretch in flow:
            so_far = _best([ends[i] for i in stretch.after], nothing)
            for call in stretch.calls:
                self._before[call] = so_far
                if (found := weights(call)) is not None:
                    so_far = _further(so_far, *found)
            ends.append(so_far)
        begins: list[list[Weights]] = [[] for _ in flow]
        for stretch, later in zip(reversed(flow), reversed(begins), strict=True):
            so_far = _best(later, nothing)
            for call in reversed(stretch.calls):
                self._after[call] = so_far
                if (found := weights(call)) is not None:
                    so_far = _further(so_far[::-1], found[0][::-1], found[1][::-1])[::-1]
            for i in stretch.after:
                begins[i].append(so_far)

    def fit(self, call: int, site: int, is_repeated: bool) -> float:
        """Return how well the calls around a compiled call match those around a written call.

        `is_repeated`: the written call can account for other compiled calls too.
        """
        if call not in self._before:
            return 0.0
        before, after = (site + 1, site) if is_repeated else (site, site + 1)
        return float(self._before[call][before] + self._after[call][after])


def _best(ways: Sequence[Weights], nothing: Weights) -> Weights:
    if len(ways) < 2:
        return ways[0] if ways else nothing
    best: Weights = np.max(ways, axis=0)
    return best


def _further(so_far: Weights, own: Weights, inside: Weights) -> Weights:
    """Extend the best scores of all prefixes of the written calls by one compiled call."""
    further = so_far.copy()
    np.maximum(further[1:], so_far[:-1] + own, out=further[1:])
    np.maximum(further[1:], so_far[1:] + inside, out=further[1:])
    result: Weights = np.maximum.accumulate(further)
    return result
