"""The activities of a capture's threads in the runtime over time."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Activity(enum.Enum):
    """The purpose of a call into the runtime."""

    COMPILE = "compile"
    RUN = "run"
    TRANSFER = "transfer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """The time of a thread in the runtime: for each activity in ns, and its share of each slice.

    A nested call counts as the activity of its outer call.
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
    """A capture's threads over time, busiest first; times in ns since the recording began.

    The time from `start` to `end` is divided into slices of equal length. `is_sampled`: the calls are so many that only
    some were examined, and these represent their neighbours.
    """

    start: int
    end: int
    threads: tuple[ThreadTime, ...]
    is_sampled: bool
