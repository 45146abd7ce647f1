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
_FEWEST = 3  # times that an event happens
_CERTAIN = 16  # times: of fewer, ranks that wait for nobody may look as if they did
_SAME_CLOCK = 50e6  # ns: how far apart ranks of one machine come to where they wait for one another


@dataclass(frozen=True, slots=True)
class Alignment:
    """What is to be subtracted from each rank's times in `Times`: `offset` in ns, and `drift` of the time itself.

    `apart` is how far ranks still are from one another in ns, where they are nearest. `waits`: they do wait for one
    another; where that is not certain, only ranks that share a clock can show it.
    """

    offset: Floats
    drift: Floats
    apart: float
    waits: bool
    is_certain: bool = True

    def aligned(self, times: Floats) -> Floats:
        """The times by one clock."""
        return np.asarray(times - self.offset[:, np.newaxis] - self.drift[:, np.newaxis] * times)

    def aligned_row(self, row: int, times: Floats) -> Floats:
        """The times of one rank by that clock."""
        return np.asarray(times - self.offset[row] - self.drift[row] * times)


def alignment_of(times: Times, reference: Integers, steps: Steps, machines: Integers) -> Alignment:
    """How the clocks of ranks are to be set to one another. Ranks of a machine (`machines`, by rows) have one clock."""
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
    known = [each for each in found if each is not None]
    waited = [each for each in known if each.waits and _is_by_clocks(each, times, machines)]
    if not waited:
        apart = min((each.apart for each in known), default=0.0)
        return Alignment(np.zeros(ranks), np.zeros(ranks), apart, waits=False)
    return _by_machine(min(waited, key=lambda each: each.apart), times, machines)


def _is_by_clocks(alignment: Alignment, times: Times, machines: Integers) -> bool:
    """Whether the clocks that ranks of a machine share allow for it, and show it where it is not certain.

    Most of these ranks come at one moment by such a clock. Those that do not, wait for nobody.
    """
    shared = [clocks for clocks in _of_machines(alignment, times, machines) if len(clocks) > 1]
    if not shared:
        return alignment.is_certain
    apart = np.concatenate([np.abs(clocks - np.median(clocks)) for clocks in shared])
    shows = alignment.is_certain or 2 * len(apart) > len(machines)
    return shows and bool(np.mean(apart <= _SAME_CLOCK) > 0.5)


def _of_machines(alignment: Alignment, times: Times, machines: Integers) -> list[Floats]:
    """What clocks showed at one moment: those of the ranks of each machine."""
    clocks = times.base.astype(np.float64) + alignment.offset
    return [clocks[machines == machine] for machine in np.unique(machines)]


def _by_machine(alignment: Alignment, times: Times, machines: Integers) -> Alignment:
    """The alignment with one clock for all ranks of a machine."""
    offset, drift = alignment.offset.copy(), alignment.drift.copy()
    for machine, clocks in zip(np.unique(machines), _of_machines(alignment, times, machines), strict=True):
        if len(clocks) > 1:
            rows = machines == machine
            offset[rows] += np.median(clocks) - clocks
            drift[rows] = np.median(drift[rows])
    return Alignment(offset, drift, alignment.apart, alignment.waits)


def _by_event(event: Floats) -> Alignment | None:
    """The alignment by one event, of which there is a column for each time that it happens; None where it happens too
    seldom, or too few ranks have it."""
    if event.shape[1] < _FEWEST:
        return None
    rough = np.zeros(len(event))
    for _ in range(_PASSES):  # ranks that end, or whose clocks drift, would else move the middle of clocks far apart
        rough = np.nan_to_num(_median(event - middle(event - rough[:, np.newaxis])))
    apart = event - middle(event - rough[:, np.newaxis])
    third, half = event.shape[1] // 3, event.shape[1] // 2
    with np.errstate(invalid="ignore"):
        early, late = _median(apart[:, :third]), _median(apart[:, -third:])
        begun, ended = _median(event[:, :third]), _median(event[:, -third:])
        drift = np.where(ended > begun, (late - early) / np.where(ended > begun, ended - begun, 1), 0.0)
        offset = _median(apart - drift[:, np.newaxis] * event)
        left = np.abs(apart - drift[:, np.newaxis] * event - offset[:, np.newaxis])
        changes = np.abs(np.diff(apart, axis=1))
        later = np.abs(apart[:, half:] - apart[:, :-half] - drift[:, np.newaxis] * (event[:, half:] - event[:, :-half]))
    spread, change, wandered = _median(left), _median(changes), _median(later)
    known = ~np.isnan(spread)
    if not known.any():
        return None
    nearest, jitter = float(np.median(spread[known])), float(np.median(change[known]))
    is_seen = np.abs(drift) * (ended - begun) > _SEEN * np.maximum(spread, nearest)
    is_clock = ~is_seen | (np.abs(drift) <= _GREATEST_DRIFT)
    is_steady = float(np.mean(is_clock[known])) > 0.5
    drift = np.where(known & is_seen & (np.abs(drift) <= _GREATEST_DRIFT), drift, 0.0)
    offset = np.where(known, _median(apart - drift[:, np.newaxis] * event), 0.0)
    steady = _WANDERING * jitter + 1_000
    return Alignment(
        offset,
        drift,
        nearest,
        waits=is_steady and nearest <= steady,
        is_certain=event.shape[1] >= _CERTAIN and float(np.nanmedian(wandered)) <= steady,
    )


def _median(values: Floats) -> npt.NDArray[np.float64]:
    """The median of each row without regard to what is NaN; NaN where all is."""
    ordered = np.sort(values, axis=1)
    there = np.count_nonzero(~np.isnan(values), axis=1)
    low = np.take_along_axis(ordered, (np.maximum(there - 1, 0) // 2)[:, np.newaxis], axis=1)[:, 0]
    high = np.take_along_axis(ordered, (there // 2).clip(0, max(values.shape[1] - 1, 0))[:, np.newaxis], axis=1)[:, 0]
    return np.asarray((low + np.where(np.isnan(high), low, high)) / 2)
