"""Runs of repeated calls, and of repeated sequences of calls, so that a loop is shown once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from framedex.model import CallRow

_LONGEST_SEQUENCE = 64  # calls: what one step of a training loop comes to


@dataclass(frozen=True, slots=True)
class Run:
    """A sequence of calls that was made so many `times` in a row; `calls` are those of the first time.

    `mean_durations` are of the calls at each place of the sequence, in nanoseconds; -1 where one never returned.
    """

    calls: tuple[CallRow, ...]
    times: int
    mean_durations: tuple[int, ...]


def singly(calls: Sequence[CallRow]) -> list[Run]:
    """Every call by itself."""
    return [Run((call,), 1, (call.duration,)) for call in calls]


def runs(calls: Sequence[CallRow]) -> Iterator[Run]:
    """The calls in order, with sequences that repeat as one run: same functions, threads and outcomes."""
    keys = [(call.capture, call.function, call.thread, call.error, call.parent is None) for call in calls]
    first = 0
    while first < len(calls):
        length, times = _repeated(keys, first)
        everyone = [calls[first + place : first + length * times : length] for place in range(length)]
        yield Run(
            tuple(calls[first : first + length]),
            times,
            tuple(_mean([call.duration for call in same]) for same in everyone),
        )
        first += length * times


def _repeated(keys: Sequence[object], first: int) -> tuple[int, int]:
    """The length and the times of the repetition from `first` on that covers most calls; of several, the shortest."""
    best = 1, 1
    for length in range(1, min(_LONGEST_SEQUENCE, (len(keys) - first) // 2) + 1):
        if keys[first] != keys[first + length]:
            continue
        sequence = keys[first : first + length]
        times = 1
        while keys[first + times * length : first + (times + 1) * length] == sequence:
            times += 1
        if times > 1 and length * times > best[0] * best[1]:
            best = length, times
    return best


def _mean(durations: Sequence[int]) -> int:
    return -1 if min(durations) < 0 else round(sum(durations) / len(durations))
