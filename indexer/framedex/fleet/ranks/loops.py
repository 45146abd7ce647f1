"""The loop of a job: its steps, and the times of each rank's calls in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.reading import EXECUTE

if TYPE_CHECKING:
    from framedex.fleet.ranks.families import RankFamily
    from framedex.fleet.ranks.reading import CallToken, RankCalls

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MIN_STEPS = 4
_MIN_STEP_SHARE = 0.5  # of the steps: a call in at least this share of them belongs to the loop


@dataclass(frozen=True, slots=True)
class LoopSteps:
    """The steps of a loop, as indices into the common sequence of calls.

    `anchor` is the token of the call that each step makes once. `starts` has the first place of each step, then the end
    of the last. A step begins with the call, before the anchor, that most steps begin with.
    """

    anchor: int
    starts: Integers

    @property
    def count(self) -> int:
        """The number of steps."""
        return len(self.starts) - 1

    def step_of(self, position: int) -> int | None:
        """Return the step of a call; None outside the loop."""
        step = int(np.searchsorted(self.starts, position, "right")) - 1
        return step if 0 <= step < self.count else None


def find_loop_steps(reference: Integers, tokens: Sequence[CallToken]) -> LoopSteps | None:
    """Return the steps of the loop that runs a program most often; None if there is no loop."""
    numbers, first, counts = np.unique(reference, return_index=True, return_counts=True)
    runs = [
        (-int(many), int(at), int(number))
        for number, at, many in zip(numbers, first, counts, strict=True)
        if tokens[number].function == EXECUTE and many >= _MIN_STEPS
    ]
    if not runs:
        return None
    _, _, anchor = min(runs)
    anchors = np.flatnonzero(reference == anchor)
    usual = set(numbers[counts >= _MIN_STEP_SHARE * len(anchors)].tolist())
    lead = None  # the first call before the anchor that most steps make
    for place in range(int(anchors[0]) - 1, -1, -1):
        number = int(reference[place])
        if number in usual:
            lead = number
        elif not tokens[number].creates_program:
            break
    begins = anchors.copy()
    if lead is not None:
        leads = np.flatnonzero(reference == lead)
        before = np.searchsorted(leads, anchors) - 1
        latest = leads[np.maximum(before, 0)]
        follows = (before >= 0) & (latest > np.concatenate([[-1], anchors[:-1]]))
        begins = np.where(follows, _first_since(leads, anchors), anchors)
    return LoopSteps(anchor, np.append(begins, _find_end(reference, anchors, begins)))


def _first_since(leads: Integers, anchors: Integers) -> Integers:
    """Return, for each anchor, the first call in `leads` after the previous anchor."""
    return np.asarray(
        leads[np.minimum(np.searchsorted(leads, np.concatenate([[-1], anchors[:-1]]), "right"), len(leads) - 1)]
    )


def _find_end(reference: Integers, anchors: Integers, begins: Integers) -> int:
    """Return the end of the last step, from the usual number of calls in a step."""
    lengths = Counter(np.diff(begins).tolist())
    usual = lengths.most_common(1)[0][0] if lengths else 1
    return min(max(int(begins[-1]) + int(usual), int(anchors[-1]) + 1), len(reference))


class CallTimes:
    """The times of the calls of a family, by each rank's own clock, in ns since the anchor of its first step.

    `positions` has the ranks' places among the members. Ranks that did not reach the first step are left out.
    """

    def __init__(self, family: RankFamily, sequences: Sequence[RankCalls], steps: LoopSteps) -> None:
        first = int(np.flatnonzero(family.reference == steps.anchor)[0])
        matched = family.comparisons
        self.positions = tuple(place for place in family.positions if matched[place].matched[first] >= 0)
        self._calls = [(sequences[place], matched[place].matched) for place in self.positions]
        self.base = np.array([calls.start[where[first]] for calls, where in self._calls], np.int64)
        self._is_awaited = np.ones(len(family.reference), np.bool_)  # calls that every rank waits for
        for calls, where in self._calls:
            self._is_awaited &= (where < 0) | (calls.done[where] >= 0)

    def times_between(self, first: int, last: int) -> Floats:
        """Return the start and end times of calls from `first` up to `last`, alternating, with a row for each rank.

        If every rank waited for the work that a call started, the call ends with that work. NaN: the rank did not make
        the call, or it never returned.
        """
        return self.times_at(np.arange(first, last))

    def times_at(self, calls: Integers) -> Floats:
        """Return the same times for calls at these positions."""
        return np.stack([self.of_row(row, calls) for row in range(len(self.positions))])

    def of_row(self, row: int, calls: Integers) -> Floats:
        """Return the same times for one rank."""
        own, matched = self._calls[row]
        where = matched[calls]
        there = where >= 0
        start = own.start[where[there]] - self.base[row]
        duration = own.duration[where[there]]
        done = own.done[where[there]] - self.base[row]
        times = np.full(2 * len(calls), np.nan)
        times[::2][there] = start
        ended = np.where(self._is_awaited[calls[there]], np.maximum(done, start + duration), start + duration)
        times[1::2][there] = np.where(duration >= 0, ended, np.nan)
        return times

    def call(self, row: int, position: int) -> int | None:
        """Return the number of a rank's call at an index of the reference; None if the rank did not make it."""
        own, matched = self._calls[row]
        return int(own.call[matched[position]]) if matched[position] >= 0 else None


def compute_lower_median(times: Floats) -> Floats:
    """Return the lower median of each column, ignoring NaN."""
    ordered = np.sort(times, axis=0)
    there = np.count_nonzero(~np.isnan(times), axis=0)
    found: Floats = np.take_along_axis(ordered, np.maximum(there - 1, 0)[np.newaxis] // 2, axis=0)[0]
    return found
