"""Find the ranks that make the others wait, with the steps, delays and lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from framedex.fleet.ranks.loops import CallTimes, Floats, Integers, LoopSteps, compute_lower_median

if TYPE_CHECKING:
    from framedex.fleet.ranks.clocks import ClockAlignment
    from framedex.fleet.ranks.reading import CallToken

_CALLS_PER_BATCH = 4096  # calls per batch, to limit memory
_SLOW_STEP_SHARE = 0.5  # share of the steps: a rank that is late in more is slow
_MIN_DELAY_SHARE = 0.1  # share of a step
_NOISE_FACTOR = 8.0  # multiple of the usual differences between ranks
_LARGE_DELAY_SHARE = 0.5  # share of a step
_OTHERS_FACTOR = 4.0  # multiple of the other ranks' worst unexplained loss in a step
_RANK_QUANTILE = 0.75  # quantile of the other ranks' worst losses that counts as usual


@dataclass(frozen=True, slots=True)
class RankDelay:
    """A rank, by its row in the times, that is late in some steps, or in most (`is_steady`).

    `median` is the median delay of these steps in ns, `total` the sum. Most time is lost in the call at `position` of
    the reference if `is_in_call`, otherwise before that call.
    """

    row: int
    steps: Integers
    is_steady: bool
    median: int
    total: int
    position: int
    is_in_call: bool


@dataclass(frozen=True, slots=True)
class Lateness:
    """The delay of each rank in each step, in ns: a row for each rank, NaN if unknown.

    `step_duration` is the usual duration of a step. `median_times` is the median time of each event of the loop.
    """

    losses: Floats
    step_duration: float
    median_times: Floats


def measure_lateness(
    times: CallTimes, alignment: ClockAlignment, reference: Integers, steps: LoopSteps, tokens: Sequence[CallToken]
) -> Lateness:
    """Compare the times of all ranks, step by step. Steps in which all ranks compile are left out."""
    losses = np.full((len(times.positions), steps.count), np.nan)
    first = int(steps.starts[0])
    common = np.full(2 * (int(steps.starts[-1]) - first), np.nan)
    obtains = np.array([token.creates_program for token in tokens], np.bool_)[reference]
    step = 0
    while step < steps.count:
        last = max(step + 1, int(np.searchsorted(steps.starts, steps.starts[step] + _CALLS_PER_BATCH, "right")) - 1)
        begin, end = max(int(steps.starts[step]) - 1, first), int(steps.starts[last])
        late, median = _measure_delays(times, alignment, begin, end)
        common[2 * (begin - first) : 2 * (end - first)] = median
        for number in range(step, last):
            start, stop = int(steps.starts[number]), int(steps.starts[number + 1])
            if not obtains[start:stop].any():
                losses[:, number] = _largest_increase(late[:, max(2 * (start - begin) - 1, 0) : 2 * (stop - begin)])
        step = last
    begun = common[2 * (steps.starts[:-1] - first)]
    took = np.diff(begun)
    usual = float(np.nanmedian(took)) if np.count_nonzero(~np.isnan(took)) else 0.0
    return Lateness(losses, usual, common)


def _measure_delays(times: CallTimes, alignment: ClockAlignment, first: int, last: int) -> tuple[Floats, Floats]:
    """Return the delay of each rank at each event, at least 0, and the median time of each event."""
    aligned = alignment.to_common_clock(times.times_between(first, last))
    common = compute_lower_median(aligned)
    late = np.maximum(aligned - common, 0.0)
    known = np.where(np.isnan(late), -1, np.arange(late.shape[1])[np.newaxis])
    latest = np.maximum.accumulate(known, axis=1)  # unknown delays repeat the previous one
    filled = np.where(latest >= 0, np.take_along_axis(late, np.maximum(latest, 0), axis=1), np.nan)
    return filled, common


def _largest_increase(late: Floats) -> Floats:
    """Return the greatest increase of each rank's delay within these events."""
    if not late.shape[1]:
        return np.full(len(late), np.nan)
    best = np.minimum.accumulate(np.where(np.isnan(late), np.inf, late), axis=1)
    return np.asarray(np.max(np.where(np.isnan(late), 0.0, late - best), axis=1))


def find_delays(
    times: CallTimes,
    alignment: ClockAlignment,
    steps: LoopSteps,
    lateness: Lateness,
    departs: Mapping[int, Collection[int]],
    floor: int,
) -> Iterator[RankDelay]:
    """Yield the ranks that make the others wait, in most steps or much in a few. Delays below `floor` ns are ignored.

    Losses in steps in which a rank makes different calls (`departs`, by row) do not count as usual differences.
    """
    losses = np.nan_to_num(lateness.losses)
    is_known = ~np.isnan(lateness.losses).all(axis=0)
    if not is_known.any():
        return
    usual = np.median(losses[:, is_known], axis=1)
    common = float(np.sort(usual)[(len(usual) - 1) // 2])
    noise = float(np.sort(np.abs(usual - common))[(len(usual) - 1) // 2])
    by_much = max(_MIN_DELAY_SHARE * lateness.step_duration, _NOISE_FACTOR * noise)
    is_slow = np.zeros(len(usual), np.bool_)
    for row in np.flatnonzero(usual - common > by_much).tolist():
        late = is_known & (losses[row] - common > by_much)
        if np.count_nonzero(late) > _SLOW_STEP_SHARE * np.count_nonzero(is_known) and losses[row, late].sum() >= floor:
            is_slow[row] = True
            yield _build_delay(times, alignment, steps, lateness, row, np.flatnonzero(late), is_steady=True)
    unexplained = losses.copy()
    for row, own in departs.items():
        unexplained[row, [step for step in own if step < steps.count]] = 0
    worst = unexplained[:, is_known].max(axis=1)
    for row in np.flatnonzero(~is_slow).tolist():
        others = np.sort(np.delete(worst, np.flatnonzero(is_slow | (np.arange(len(worst)) == row))))
        ordinary = float(others[int(_RANK_QUANTILE * len(others))]) if len(others) else 0.0
        limit = max(compute_lateness_limit(lateness, floor), _OTHERS_FACTOR * ordinary)
        if (late := np.flatnonzero(is_known & (losses[row] >= limit))).size:
            yield _build_delay(times, alignment, steps, lateness, row, late, is_steady=False)


def compute_lateness_limit(lateness: Lateness, floor: int) -> float:
    """Return the smallest loss in a step, in ns, that makes a rank late."""
    return max(_LARGE_DELAY_SHARE * lateness.step_duration, floor)


def _build_delay(
    times: CallTimes,
    alignment: ClockAlignment,
    steps: LoopSteps,
    lateness: Lateness,
    row: int,
    late: Integers,
    *,
    is_steady: bool,
) -> RankDelay:
    lost = lateness.losses[row, late]
    place, in_call = _find_worst_position(times, alignment, steps, lateness, row, late[np.argsort(-lost)[:_MAX_STEPS]])
    return RankDelay(row, late, is_steady, int(np.median(lost)), int(lost.sum()), place, in_call)


_MAX_STEPS = 64  # steps


def _find_worst_position(
    times: CallTimes, alignment: ClockAlignment, steps: LoopSteps, lateness: Lateness, row: int, late: Integers
) -> tuple[int, bool]:
    """Return the index of the call at which a rank loses most time in these steps, and whether the call itself is slow.

    Otherwise the rank loses the time before that call.
    """
    sums: dict[tuple[int, int], tuple[float, int]] = {}
    first = int(steps.starts[0])
    for step in late.tolist():
        begin, end = max(int(steps.starts[step]) - 1, first), int(steps.starts[step + 1])
        own = alignment.aligned_row(row, times.of_row(row, np.arange(begin, end)))
        behind = np.maximum(own - lateness.median_times[2 * (begin - first) : 2 * (end - first)], 0.0)
        rises = np.diff(behind)
        rises[: 2 * (int(steps.starts[step]) - begin) - 1] = np.nan  # delays from before the step
        if np.isnan(rises).all():
            continue
        event = int(np.nanargmax(rises)) + 1
        place = begin + event // 2
        key = (place - int(steps.starts[step]), event % 2)
        before, earliest = sums.get(key, (0.0, place))
        sums[key] = (before + float(rises[event - 1]), earliest)
    if not sums:
        return int(steps.starts[int(late[0])]), False
    (_, is_end), (_, place) = max(sums.items(), key=lambda item: item[1][0])
    return place, bool(is_end)
