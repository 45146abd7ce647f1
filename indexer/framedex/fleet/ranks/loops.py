"""The loop of a job: its steps, and when each rank was where in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.reading import EXECUTE

if TYPE_CHECKING:
    from framedex.fleet.ranks.families import Family
    from framedex.fleet.ranks.reading import RankCalls, Token

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FEWEST_STEPS = 4
_USUAL = 0.5  # of the steps: a call in so many is one of the loop's


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a loop, by places in the sequence of calls that the ranks have in common.

    `anchor` is the number of the call that each step has once, `begins` where each begins, and behind the last where
    that ends: at the latest call before the anchor that most steps begin with.
    """

    anchor: int
    begins: Integers

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.begins) - 1

    def of(self, place: int) -> int | None:
        """The step in which a call is, None outside of the loop."""
        step = int(np.searchsorted(self.begins, place, "right")) - 1
        return step if 0 <= step < self.count else None


def steps_of(reference: Integers, tokens: Sequence[Token]) -> Steps | None:
    """The steps of the loop that runs a program most often; None where there is none."""
    numbers, first, counts = np.unique(reference, return_index=True, return_counts=True)
    runs = [
        (-int(many), int(at), int(number))
        for number, at, many in zip(numbers, first, counts, strict=True)
        if tokens[number].function == EXECUTE and many >= _FEWEST_STEPS
    ]
    if not runs:
        return None
    _, _, anchor = min(runs)
    anchors = np.flatnonzero(reference == anchor)
    usual = set(numbers[counts >= _USUAL * len(anchors)].tolist())
    lead = None  # the first of the calls before the anchor that come in most steps
    for place in range(int(anchors[0]) - 1, -1, -1):
        number = int(reference[place])
        if number in usual:
            lead = number
        elif not tokens[number].obtains:
            break
    begins = anchors.copy()
    if lead is not None:
        leads = np.flatnonzero(reference == lead)
        before = np.searchsorted(leads, anchors) - 1
        latest = leads[np.maximum(before, 0)]
        follows = (before >= 0) & (latest > np.concatenate([[-1], anchors[:-1]]))
        begins = np.where(follows, _first_since(leads, anchors), anchors)
    return Steps(anchor, np.append(begins, _end(reference, anchors, begins)))


def _first_since(leads: Integers, anchors: Integers) -> Integers:
    """For each anchor the first of these calls behind the anchor before it."""
    return np.asarray(
        leads[np.minimum(np.searchsorted(leads, np.concatenate([[-1], anchors[:-1]]), "right"), len(leads) - 1)]
    )


def _end(reference: Integers, anchors: Integers, begins: Integers) -> int:
    """Where the last step ends: after as many calls as most steps have, and at the end of all at most."""
    lengths = Counter(np.diff(begins).tolist())
    usual = lengths.most_common(1)[0][0] if lengths else 1
    return min(max(int(begins[-1]) + int(usual), int(anchors[-1]) + 1), len(reference))


class Times:
    """When the ranks of a family were where, each by its own clock, in ns since its first step's anchor.

    Ranks that did not come to the first step have no times: `places` are those of the others among the members.
    """

    def __init__(self, family: Family, sequences: Sequence[RankCalls], steps: Steps) -> None:
        first = int(np.flatnonzero(family.reference == steps.anchor)[0])
        matched = family.compared
        self.places = tuple(place for place in family.places if matched[place].matched[first] >= 0)
        self._calls = [(sequences[place], matched[place].matched) for place in self.places]
        self.base = np.array([calls.start[where[first]] for calls, where in self._calls], np.int64)
        self._is_awaited = np.ones(len(family.reference), np.bool_)  # what each rank that makes the call waits for
        for calls, where in self._calls:
            self._is_awaited &= (where < 0) | (calls.done[where] >= 0)

    def between(self, first: int, last: int) -> Floats:
        """The times at which calls from one place up to another began and ended, by turns: a row for each rank.

        Where on all ranks what a call had begun was over before they went on, it ended then: ranks that wait for one
        another do so there. NaN where a rank did not make the call, or it never returned.
        """
        return self.at(np.arange(first, last))

    def at(self, calls: Integers) -> Floats:
        """The same for calls at these places."""
        return np.stack([self.of_row(row, calls) for row in range(len(self.places))])

    def of_row(self, row: int, calls: Integers) -> Floats:
        """The same of one rank."""
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

    def call(self, row: int, place: int) -> int | None:
        """The number of a rank's call at a place, None where it has none."""
        own, matched = self._calls[row]
        return int(own.call[matched[place]]) if matched[place] >= 0 else None


def middle(times: Floats) -> Floats:
    """The lower median of each column, without regard to what is NaN; of two the lesser."""
    ordered = np.sort(times, axis=0)
    there = np.count_nonzero(~np.isnan(times), axis=0)
    found: Floats = np.take_along_axis(ordered, np.maximum(there - 1, 0)[np.newaxis] // 2, axis=0)[0]
    return found
