"""Thresholds that separate differences of two times from noise.

Other load on a machine makes calls slower, hardly ever faster. So times are compared by the quickest tenth of similar
calls. In a test, seven processes compiled on two cores. There the quickest tenth of a one-program loop stayed
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

_TENTH = 10


@dataclass(frozen=True, slots=True)
class Time:
    """A measured time in ns: `total` of `times` calls, rounds or runs.

    `quick` is the time of one with little interference: nine of ten are slower. It was determined from `measured`
    values. The number is lower if some values dominate.
    """

    total: int
    quick: int
    times: int
    measured: float

    @property
    def mean(self) -> float:
        """The mean time of one, in ns."""
        return self.total / max(self.times, 1)


NO_TIME = Time(0, 0, 0, 0)


def summarize_times(durations: Sequence[int]) -> Time:
    """Return the time of similar events, each with its own measurement."""
    if not durations:
        return NO_TIME
    quick = sorted(durations)[(len(durations) - 1) // _TENTH]
    return Time(sum(durations), quick, len(durations), len(durations))


@dataclass(frozen=True, slots=True)
class Noise:
    """Thresholds: times differ if one exceeds `most` times the other, and the totals differ by at least `floor` ns."""

    most: float = MAX_EQUAL_RATIO
    floor: int = MIN_DIFFERENCE_NS

    def is_exceeded(self, before: Time, after: Time) -> bool:
        """Whether two times differ by more than noise."""
        less, more = sorted((before, after), key=lambda time: time.quick)
        measured = min(less.measured, more.measured) or more.measured
        doubt = 1 + _FEW_MEASUREMENTS_TOLERANCE / measured if measured else 1
        factor, floor = self.most * doubt, self.floor * doubt
        is_longer = more.quick > factor * less.quick and more.mean > less.mean
        return is_longer and (more.quick - less.quick) * more.times >= floor
