"""Runs of repeated calls and call sequences, so that a loop is shown once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import eq

from framedex.model import CallRow

_AHEAD = 100_000  # calls examined for repetition
_LONGEST_SEQUENCE = 256  # calls: about one step of a training loop


@dataclass(frozen=True, slots=True)
class Run:
    """A sequence of calls that was repeated `times` times in a row; `calls` are those of the first repetition.

    `mean_durations` are in nanoseconds, one per call of the sequence; -1 if one of the calls never returned.
    """

    calls: tuple[CallRow, ...]
    times: int
    mean_durations: tuple[int, ...]


def singly(calls: Iterable[CallRow]) -> Iterator[Run]:
    """One run per call."""
    return (Run((call,), 1, (call.duration,)) for call in calls)


def runs(calls: Iterable[CallRow]) -> Iterator[Run]:
    """The calls in order, with repeated sequences as one run: same functions, threads and outcomes.

    The next hundred thousand calls determine the sequence; all calls determine the number of repetitions.
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
    """Refill the look-ahead buffer when half of it is consumed."""
    if len(ahead) <= _AHEAD // 2:
        more = list(islice(coming, _AHEAD - len(ahead)))
        ahead.extend(more)
        keys.extend(map(_key, more))


def _key(call: CallRow) -> object:
    return call.capture, call.function, call.thread, call.error, call.parent is None


def _repeated(keys: Sequence[object]) -> int:
    """The length of the sequence that repeats at the start and covers the most calls; of several, the shortest."""
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
    """The mean of durations; -1 if a call never returned."""

    def __init__(self) -> None:
        self._sum = 0
        self._count = 0
        self._is_known = True

    def add(self, duration: int) -> None:
        """Add a duration."""
        self._sum += duration
        self._count += 1
        self._is_known = self._is_known and duration >= 0

    @property
    def value(self) -> int:
        """The mean, in the unit of the durations."""
        return round(self._sum / self._count) if self._is_known else -1
