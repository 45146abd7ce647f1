"""What the threads of a capture did in the runtime over time."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Activity(enum.Enum):
    """What a call into the runtime is for."""

    COMPILE = "compile"
    RUN = "run"
    TRANSFER = "transfer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """The time that a thread was in the runtime: for each activity in ns, and its share of each of the slices.

    A call made inside another counts as that.
    """

    thread: str
    durations: dict[Activity, int]
    shares: dict[Activity, tuple[float, ...]]

    @property
    def busy(self) -> int:
        """The time of all activities together, in ns."""
        return sum(self.durations.values())


@dataclass(frozen=True, slots=True)
class Timeline:
    """A capture's threads over time, those that were busy longest first; times in ns since the recording began.

    The time from `start` to `end` is cut into slices of one length. `is_sampled`: of very many calls some have been
    looked at, and stand for those around them.
    """

    start: int
    end: int
    threads: tuple[ThreadTime, ...]
    is_sampled: bool
