"""The calls of a function as compiled, held against those that are written: which part of the one fits the other.

Each way through the machine code passes calls in an order that the source has too. So of a call somewhere on the way
the best way to it and the best way from it on are looked for, each with as many calls as can be found in the source,
one after the other. A loop is gone through once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float64]
"""For each call as written what it says that it is compiled somewhere; 0 where it cannot be."""

_MOST_CELLS = 1 << 20  # calls as compiled times calls as written; more takes longer than a line is worth
_MOST_STEPS = 1 << 24  # from one stretch to the next, times calls as written: numbers of eight bytes that are held


class Stretch(NamedTuple):
    """Machine code that runs as a whole: its calls, by number, and the earlier stretches that it can run after."""

    calls: range
    after: Sequence[int]


class Alignment:
    """What is before and after each call, as well as it fits what is written before and after a place."""

    def __init__(
        self, flow: Sequence[Stretch], weights: Callable[[int], tuple[Weights, Weights] | None], written: int
    ) -> None:
        """`flow` has each stretch after those that lead to it. `written` is how many calls are written.

        `weights` are those of a call as compiled, first where it is the one that is written, then where what is
        written calls it: that may be several in a row.
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
        """How well what is around a call fits what is around a place in the source.

        `is_repeated`: what is written there can make other calls as well.
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
    """The best fit of what is written up to each place, with one call more."""
    further = so_far.copy()
    np.maximum(further[1:], so_far[:-1] + own, out=further[1:])
    np.maximum(further[1:], so_far[1:] + inside, out=further[1:])
    result: Weights = np.maximum.accumulate(further)
    return result
