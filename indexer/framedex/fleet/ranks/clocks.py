"""How far the clocks of ranks are apart, told by what all of them do together.

A program with collectives ends on no rank before all have begun it, so behind the call that waits for it all ranks
go on at one moment. Which call that is shows in the times: there, and nowhere else, the ranks are always as far
apart as their clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.loops import Floats, Integers, Steps, Times, middle

_SAMPLED = 96  # calls of a kind
_MOST_CALLS = 64  # kinds of calls
_GREATEST_DRIFT = (
    6e-4  # what clocks that are set right while they run gain or lose at most: 500 ppm, and a quartz's own error
)
_PASSES = 2
_SEEN = 8.0  # how much greater than what is apart anyway is what a drift comes to, to be one
_WANDERING = 3.0  # how often farther apart than from one step to the next ranks are that wait for nobody


@dataclass(frozen=True, slots=True)
class Alignment:
    """What is to be subtracted from each rank's times in `Times`: `offset` in ns, and `drift` of the time itself.

    `apart` is how far ranks still are from one another in ns, where they are nearest. `waits`: they do wait for one
    another.
    """

    offset: Floats
    drift: Floats
    apart: float
    waits: bool

    def aligned(self, times: Floats) -> Floats:
        """The times by one clock."""
        return np.asarray(times - self.offset[:, np.newaxis] - self.drift[:, np.newaxis] * times)

    def aligned_row(self, row: int, times: Floats) -> Floats:
        """The times of one rank by that clock."""
        return np.asarray(times - self.offset[row] - self.drift[row] * times)


def alignment_of(times: Times, reference: Integers, steps: Steps) -> Alignment:
    """How the clocks of ranks are to be set to one another."""
    ranks = len(times.places)
    found = []
    first, last = int(steps.begins[0]), int(steps.begins[-1])
    numbers, counts = np.unique(reference[first:last], return_counts=True)
    for number in numbers[np.argsort(-counts, kind="stable")][:_MOST_CALLS].tolist():
        places = first + np.flatnonzero(reference[first:last] == number)
        sampled = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), _SAMPLED)).astype(np.int64))]
        both = times.at(sampled)
        next_start = times.at(np.minimum(sampled + 1, last - 1))[:, ::2]
        found += [_by_event(event) for event in (both[:, ::2], both[:, 1::2], next_start)]
    best = min(
        (each for each in found if each is not None), key=lambda each: (not each.waits, each.apart), default=None
    )
    if best is None or not best.waits:
        return Alignment(np.zeros(ranks), np.zeros(ranks), 0.0 if best is None else best.apart, waits=False)
    return best


def _by_event(event: Floats) -> Alignment | None:
    """The alignment by one event, of which there is a column for each time that it happens; None where too few ranks
    have it."""
    rough = np.zeros(len(event))
    for _ in range(_PASSES):  # ranks that end, or whose clocks drift, would else move the middle of clocks far apart
        rough = np.nan_to_num(_median(event - middle(event - rough[:, np.newaxis])))
    apart = event - middle(event - rough[:, np.newaxis])
    third = event.shape[1] // 3
    if third == 0:
        return None
    with np.errstate(invalid="ignore"):
        early, late = _median(apart[:, :third]), _median(apart[:, -third:])
        begun, ended = _median(event[:, :third]), _median(event[:, -third:])
        drift = np.where(ended > begun, (late - early) / np.where(ended > begun, ended - begun, 1), 0.0)
        offset = _median(apart - drift[:, np.newaxis] * event)
        left = np.abs(apart - drift[:, np.newaxis] * event - offset[:, np.newaxis])
        changes = np.abs(np.diff(apart, axis=1))
    spread, change = _median(left), _median(changes)
    known = ~np.isnan(spread)
    if not known.any():
        return None
    nearest, jitter = float(np.median(spread[known])), float(np.median(change[known]))
    is_seen = np.abs(drift) * (ended - begun) > _SEEN * np.maximum(spread, nearest)
    is_clock = ~is_seen | (np.abs(drift) <= _GREATEST_DRIFT)
    is_steady = float(np.mean(is_clock[known])) > 0.5
    drift = np.where(known & is_seen & (np.abs(drift) <= _GREATEST_DRIFT), drift, 0.0)
    offset = np.where(known, _median(apart - drift[:, np.newaxis] * event), 0.0)
    return Alignment(offset, drift, nearest, waits=is_steady and nearest <= _WANDERING * jitter + 1_000)


def _median(values: Floats) -> npt.NDArray[np.float64]:
    """The median of each row without regard to what is NaN; NaN where all is."""
    ordered = np.sort(values, axis=1)
    there = np.count_nonzero(~np.isnan(values), axis=1)
    low = np.take_along_axis(ordered, (np.maximum(there - 1, 0) // 2)[:, np.newaxis], axis=1)[:, 0]
    high = np.take_along_axis(ordered, (there // 2).clip(0, max(values.shape[1] - 1, 0))[:, np.newaxis], axis=1)[:, 0]
    return np.asarray((low + np.where(np.isnan(high), low, high)) / 2)
