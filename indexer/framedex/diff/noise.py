"""Thresholds that separate differences of two times from noise.

Other load on a machine makes calls slower, but hardly ever faster. So times are compared by the quickest tenth of
similar calls. In a test, seven processes compiled on two cores. There the quickest tenth of a one-program loop stayed
within 1.4 times that of any other run, while medians differed by up to 3.2 times. The fewer measurements there are, the
more two times must differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_EQUAL_RATIO = 2.0
"""Ratio of two times up to which they count as equal."""

MIN_DIFFERENCE_NS = 10_000_000
"""Minimum difference of the total time, in ns."""

_FEW_MEASUREMENTS_TOLERANCE = 3.0
"""Tolerance for few measurements: both thresholds are multiplied by 1 + 3/N for N measurements.

In the test with two cores, a compilation took up to 6 times as long as the same one in another run.
"""

_QUICK_DIVISOR = 10


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """A measured time in ns: the `total` of `count` events, which are calls, iterations or runs.

    `undisturbed` is the time of one event without interference: the first decile of `measurements` values. That number
    is lower if some values dominate.
    """

    total: int
    undisturbed: int
    count: int
    measurements: float

    @property
    def mean(self) -> float:
        """The mean time of one event, in ns."""
        return self.total / max(self.count, 1)


NO_TIME = MeasuredTime(0, 0, 0, 0)


def summarize_times(durations: Sequence[int]) -> MeasuredTime:
    """Return the time of similar events, each with its own measurement."""
    if not durations:
        return NO_TIME
    quick = sorted(durations)[(len(durations) - 1) // _QUICK_DIVISOR]
    return MeasuredTime(sum(durations), quick, len(durations), len(durations))


@dataclass(frozen=True, slots=True)
class NoiseThresholds:
    """Times differ if their ratio exceeds `max_ratio` and their totals differ by `min_difference_ns` or more."""

    max_ratio: float = MAX_EQUAL_RATIO
    min_difference_ns: int = MIN_DIFFERENCE_NS

    def is_exceeded(self, before: MeasuredTime, after: MeasuredTime) -> bool:
        """Whether two times differ by more than noise."""
        less, more = sorted((before, after), key=lambda time: time.undisturbed)
        measured = min(less.measurements, more.measurements) or more.measurements
        doubt = 1 + _FEW_MEASUREMENTS_TOLERANCE / measured if measured else 1
        factor, floor = self.max_ratio * doubt, self.min_difference_ns * doubt
        is_longer = more.undisturbed > factor * less.undisturbed and more.mean > less.mean
        return is_longer and (more.undisturbed - less.undisturbed) * more.count >= floor
