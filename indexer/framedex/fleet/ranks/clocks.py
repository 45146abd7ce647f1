"""Estimate the clock offsets of ranks from calls that all ranks finish together.

A program with collectives ends on no rank before all ranks have begun it. So all ranks return at the same moment from
the call that waits for it. The times reveal that call: only there, the differences between ranks are constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.loops import CallTimes, Floats, Integers, LoopSteps, compute_lower_median

_MAX_SAMPLED_CALLS = 96  # sampled calls per kind
_MAX_CALL_KINDS = 64  # kinds of calls
_MAX_DRIFT = 6e-4  # NTP slews clocks by at most 500 ppm; the rest is the error of a quartz
_ALIGNMENT_PASSES = 2
_MIN_DRIFT_RATIO = 8.0  # a drift is real if it adds up to this multiple of the spread
_MAX_SPREAD_RATIO = 3.0  # ranks that do not wait have a spread above this multiple of the jitter between steps
_MIN_OCCURRENCES = 3  # occurrences of an event
_CERTAIN_OCCURRENCES = 16  # occurrences: with fewer, independent ranks may seem to wait for one another
_SAME_CLOCK_NS = 50e6  # ns: greatest difference of waiting ranks on one machine


@dataclass(frozen=True, slots=True)
class ClockAlignment:
    """The corrections of each rank's times in `CallTimes`: subtract `offset` in ns, and `drift` times the time.

    `spread` is the remaining spread of the ranks in ns, at the event where they are closest. `is_synchronized`: ranks
    wait for one another. If that is not certain, only ranks with a common clock can confirm it.
    """

    offset: Floats
    drift: Floats
    spread: float
    is_synchronized: bool
    is_certain: bool = True

    def to_common_clock(self, times: Floats) -> Floats:
        """Return the times of all ranks on a common clock."""
        return np.asarray(times - self.offset[:, np.newaxis] - self.drift[:, np.newaxis] * times)

    def aligned_row(self, row: int, times: Floats) -> Floats:
        """Return the times of one rank on the common clock."""
        return np.asarray(times - self.offset[row] - self.drift[row] * times)


def estimate_alignment(times: CallTimes, reference: Integers, steps: LoopSteps, machines: Integers) -> ClockAlignment:
    """Estimate the clock corrections of ranks. Ranks with the same number in `machines` (by row) share a clock."""
    ranks = len(times.positions)
    found = []
    first, last = int(steps.starts[0]), int(steps.starts[-1])
    numbers, counts = np.unique(reference[first:last], return_counts=True)
    for number in numbers[np.argsort(-counts, kind="stable")][:_MAX_CALL_KINDS].tolist():
        places = first + np.flatnonzero(reference[first:last] == number)
        sampled = places[
            np.unique(np.linspace(0, len(places) - 1, min(len(places), _MAX_SAMPLED_CALLS)).astype(np.int64))
        ]
        both = times.times_at(sampled)
        next_start = times.times_at(np.minimum(sampled + 1, last - 1))[:, ::2]
        found += [_align_by_event(event) for event in (both[:, ::2], both[:, 1::2], next_start)]
    known = [each for each in found if each is not None]
    waited = [each for each in known if each.is_synchronized and _is_confirmed_by_clocks(each, times, machines)]
    if not waited:
        spread = min((each.spread for each in known), default=0.0)
        return ClockAlignment(np.zeros(ranks), np.zeros(ranks), spread, is_synchronized=False)
    return _merge_by_machine(min(waited, key=lambda each: each.spread), times, machines)


def _is_confirmed_by_clocks(alignment: ClockAlignment, times: CallTimes, machines: Integers) -> bool:
    """Return whether ranks that share a clock confirm an alignment.

    Waiting ranks of one machine arrive at the same time on their clock. An uncertain alignment needs most ranks to
    share a clock with another.
    """
    shared = [clocks for clocks in _group_clocks(alignment, times, machines) if len(clocks) > 1]
    if not shared:
        return alignment.is_certain
    deviations = np.concatenate([np.abs(clocks - np.median(clocks)) for clocks in shared])
    is_shown = alignment.is_certain or 2 * len(deviations) > len(machines)
    return is_shown and bool(np.mean(deviations <= _SAME_CLOCK_NS) > 0.5)


def _group_clocks(alignment: ClockAlignment, times: CallTimes, machines: Integers) -> list[Floats]:
    """Return the readings of the ranks' clocks at one moment, grouped by machine."""
    clocks = times.base.astype(np.float64) + alignment.offset
    return [clocks[machines == machine] for machine in np.unique(machines)]


def _merge_by_machine(alignment: ClockAlignment, times: CallTimes, machines: Integers) -> ClockAlignment:
    """Return the alignment with one common clock per machine."""
    offset, drift = alignment.offset.copy(), alignment.drift.copy()
    for machine, clocks in zip(np.unique(machines), _group_clocks(alignment, times, machines), strict=True):
        if len(clocks) > 1:
            rows = machines == machine
            offset[rows] += np.median(clocks) - clocks
            drift[rows] = np.median(drift[rows])
    return ClockAlignment(offset, drift, alignment.spread, alignment.is_synchronized)


def _align_by_event(event: Floats) -> ClockAlignment | None:
    """Estimate the alignment from one event. `event` has a row per rank and a column per occurrence.

    Return None if the event is too rare, or no rank has it.
    """
    if event.shape[1] < _MIN_OCCURRENCES:
        return None
    rough = np.zeros(len(event))
    for _ in range(_ALIGNMENT_PASSES):  # otherwise ranks that end or drift would move the median of distant clocks
        rough = np.nan_to_num(_compute_median(event - compute_lower_median(event - rough[:, np.newaxis])))
    lags = event - compute_lower_median(event - rough[:, np.newaxis])
    third, half = event.shape[1] // 3, event.shape[1] // 2
    with np.errstate(invalid="ignore"):
        early, late = _compute_median(lags[:, :third]), _compute_median(lags[:, -third:])
        begun, ended = _compute_median(event[:, :third]), _compute_median(event[:, -third:])
        drift = np.where(ended > begun, (late - early) / np.where(ended > begun, ended - begun, 1), 0.0)
        offset = _compute_median(lags - drift[:, np.newaxis] * event)
        left = np.abs(lags - drift[:, np.newaxis] * event - offset[:, np.newaxis])
        changes = np.abs(np.diff(lags, axis=1))
        later = np.abs(lags[:, half:] - lags[:, :-half] - drift[:, np.newaxis] * (event[:, half:] - event[:, :-half]))
    spread, change, wandered = _compute_median(left), _compute_median(changes), _compute_median(later)
    known = ~np.isnan(spread)
    if not known.any():
        return None
    nearest, jitter = float(np.median(spread[known])), float(np.median(change[known]))
    is_seen = np.abs(drift) * (ended - begun) > _MIN_DRIFT_RATIO * np.maximum(spread, nearest)
    is_clock = ~is_seen | (np.abs(drift) <= _MAX_DRIFT)
    is_steady = float(np.mean(is_clock[known])) > 0.5
    drift = np.where(known & is_seen & (np.abs(drift) <= _MAX_DRIFT), drift, 0.0)
    offset = np.where(known, _compute_median(lags - drift[:, np.newaxis] * event), 0.0)
    steady = _MAX_SPREAD_RATIO * jitter + 1_000
    return ClockAlignment(
        offset,
        drift,
        nearest,
        is_synchronized=is_steady and nearest <= steady,
        is_certain=event.shape[1] >= _CERTAIN_OCCURRENCES and float(np.nanmedian(wandered)) <= steady,
    )


def _compute_median(values: Floats) -> npt.NDArray[np.float64]:
    """Return the median of each row, ignoring NaN; NaN for a row without values."""
    ordered = np.sort(values, axis=1)
    there = np.count_nonzero(~np.isnan(values), axis=1)
    low = np.take_along_axis(ordered, (np.maximum(there - 1, 0) // 2)[:, np.newaxis], axis=1)[:, 0]
    high = np.take_along_axis(ordered, (there // 2).clip(0, max(values.shape[1] - 1, 0))[:, np.newaxis], axis=1)[:, 0]
    return np.asarray((low + np.where(np.isnan(high), low, high)) / 2)
