"""Which difference of two times is one, and which is noise.

What else a machine does makes calls longer, hardly ever shorter. So times are judged by the quickest tenth of those
that are alike: on two cores shared by seven who compile, that of a loop of one program stayed within 1.4 times that of
any other run, where medians differed by up to 3.2. The fewer there are, the more two times have to differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST = 2.0
"""How many times as long something may take before that is a difference."""

FLOOR = 10_000_000
"""How much longer all of it together has to take, ns."""

_OF_ONE = 3.0
"""How much more than that what was measured once may differ: by 3 times as much again, of N measurements an Nth of it.

On those two cores a compilation took up to 6 times as long as the same one in another run.
"""

_TENTH = 10


@dataclass(frozen=True, slots=True)
class Time:
    """What something took, ns: `total` is all of it, and `times` how many calls, rounds or runs that were.

    `quick` is what one takes when little is in its way: nine of ten take longer. That was taken of `measured` ones;
    where some are not like the others, they count for less.
    """

    total: int
    quick: int
    times: int
    measured: float

    @property
    def mean(self) -> float:
        """What one took, ns."""
        return self.total / max(self.times, 1)


NO_TIME = Time(0, 0, 0, 0)


def time_of_all(durations: Sequence[int]) -> Time:
    """The time of things that are alike, each of which was measured."""
    if not durations:
        return NO_TIME
    quick = sorted(durations)[(len(durations) - 1) // _TENTH]
    return Time(sum(durations), quick, len(durations), len(durations))


@dataclass(frozen=True, slots=True)
class Noise:
    """Times differ where one is more than `most` times the other, and all together by `floor` ns at least."""

    most: float = MOST
    floor: int = FLOOR

    def is_exceeded(self, before: Time, after: Time) -> bool:
        """Whether two times differ by more than noise."""
        less, more = sorted((before, after), key=lambda time: time.quick)
        measured = min(less.measured, more.measured) or more.measured
        doubt = 1 + _OF_ONE / measured if measured else 1
        factor, floor = self.most * doubt, self.floor * doubt
        is_longer = more.quick > factor * less.quick and more.mean > less.mean
        return is_longer and (more.quick - less.quick) * more.times >= floor
