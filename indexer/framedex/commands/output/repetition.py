"""Runs of repeated calls, and of repeated sequences of calls, so that a loop is shown once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import eq

from framedex.model import CallRow

_AHEAD = 100_000  # calls that are looked at to find what repeats
_LONGEST_SEQUENCE = 256  # calls: what one step of a training loop comes to


@dataclass(frozen=True, slots=True)
class Run:
    """A sequence of calls that was made so many `times` in a row; `calls` are those of the first time.

    `mean_durations` are of the calls at each place of the sequence, in nanoseconds; -1 where one never returned.
    """

    calls: tuple[CallRow, ...]
    times: int
    mean_durations: tuple[int, ...]


def singly(calls: Iterable[CallRow]) -> Iterator[Run]:
    """Every call by itself."""
    return (Run((call,), 1, (call.duration,)) for call in calls)


def runs(calls: Iterable[CallRow]) -> Iterator[Run]:
    """The calls in order, with sequences that repeat as one run: same functions, threads and outcomes.

    Which sequence is told is decided by the next hundred thousand calls; how often it repeats, by all of them.
    """
    coming = iter(calls)
    ahead = deque(islice(coming, _AHEAD))
    keys = deque(map(_key, ahead))
    while ahead:
        length = _repeated(keys)
        first = tuple(islice(ahead, length))
        expected = tuple(islice(keys, length))
        means = [_Mean() for _ in first]
        repeated = 0
        while len(ahead) >= length and all(map(eq, keys, expected)):
            for mean in means:
                mean.add(ahead.popleft().duration)
                keys.popleft()
            repeated += 1
            _refill(ahead, keys, coming)
        yield Run(first, repeated, tuple(mean.value for mean in means))
        _refill(ahead, keys, coming)


def _refill(ahead: deque[CallRow], keys: deque[object], coming: Iterator[CallRow]) -> None:
    """Have enough calls at hand again."""
    if len(ahead) <= _AHEAD // 2:
        more = list(islice(coming, _AHEAD - len(ahead)))
        ahead.extend(more)
        keys.extend(map(_key, more))


def _key(call: CallRow) -> object:
    return call.capture, call.function, call.thread, call.error, call.parent is None


def _repeated(keys: Sequence[object]) -> int:
    """The length of what repeats at the beginning and covers most calls; of several, the shortest."""
    best = 1, 1
    first = keys[0]
    for length in range(1, min(_LONGEST_SEQUENCE, len(keys) // 2) + 1):
        if first != keys[length]:
            continue
        covered = length + sum(1 for _ in takewhile(bool, map(eq, keys, islice(keys, length, None))))
        times = covered // length
        if times > 1 and length * times > best[0] * best[1]:
            best = length, times
    return best[0]


class _Mean:
    """The mean of durations; -1 where one is of a call that never returned."""

    def __init__(self) -> None:
        self._sum = 0
        self._count = 0
        self._is_known = True

    def add(self, duration: int) -> None:
        """Count one more."""
        self._sum += duration
        self._count += 1
        self._is_known = self._is_known and duration >= 0

    @property
    def value(self) -> int:
        """The mean, in the unit of the durations."""
        return round(self._sum / self._count) if self._is_known else -1
