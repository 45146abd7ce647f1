"""Align two sequences of calls, and find their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

MAX_DEPARTURES = 512
"""The maximum number of departures of a sequence. Calls after the last one are not compared."""

_LONG_RUN, _SHORT_RUN = 8, 3  # equal calls that prove that two sequences match again
_NEAR_CALLS, _FAR_CALLS = 64, 4096  # calls in which such a match is searched
_HASH_FACTOR = 0x9E3779B97F4A7C15  # of hashes: any odd number of 64 bits
_DEPARTURE_COST = 2  # calls: one more departure costs as much as this number of unmatched calls
_MAX_COMPARED_CALLS = 2_000_000  # calls, in some tenths of a second
_MIN_MATCH_SHARE = 0.3  # share of the following calls that must match after a short run of equal calls


@dataclass(frozen=True, slots=True)
class Departure:
    """`count` calls of a sequence at `start` replace `other_count` calls of the reference at `other_start`."""

    start: int
    count: int
    other_start: int
    other_count: int


@dataclass(frozen=True, slots=True)
class SequenceAlignment:
    """The departures of a sequence from the reference.

    For each call of the reference, `matched` has the index of its match in the sequence, or -1.
    """

    departures: tuple[Departure, ...]
    matched: Integers

    @property
    def matched_count(self) -> int:
        """The number of matched calls."""
        return int(np.count_nonzero(self.matched >= 0))


def align_sequences(sequence: Integers, reference: Integers) -> SequenceAlignment:
    """Align a sequence with the reference, from the first call to the last."""
    rough = _align_greedily(sequence, reference)
    departures = _with_fewest_edits(sequence, reference, rough.departures)
    if departures is None:
        return rough
    matched = np.full(len(reference), -1, np.int64)
    at = other_at = 0
    for each in (*departures, Departure(len(sequence), 0, len(reference), 0)):
        matched[other_at : each.other_start] = np.arange(at, each.start)
        at, other_at = each.start + each.count, each.other_start + each.other_count
    return SequenceAlignment(tuple(departures), matched)


def _with_fewest_edits(
    sequence: Integers, reference: Integers, rough: Sequence[Departure]
) -> Sequence[Departure] | None:
    """Return the departures with the fewest unmatched calls; None if they are not better than the rough ones.

    The greedy rough alignment skips too many calls in loops. If the sequence ends before the reference,
    its last departure stays.
    """
    is_tail = bool(rough) and rough[-1].start == len(sequence)
    tail = [*rough[-1:]] if is_tail else []
    body = rough[: len(rough) - len(tail)]
    length, other_length = (tail[0].start, tail[0].other_start) if tail else (len(sequence), len(reference))
    edits = sum(each.count + each.other_count for each in body)
    if all(each.count == each.other_count for each in body) or edits == abs(length - other_length):
        return None
    most = min(edits - 1, MAX_DEPARTURES)
    fewest = _find_fewest_edits(sequence[:length].tolist(), reference[:other_length].tolist(), most)
    if fewest is None or _count_unmatched(fewest) >= _count_unmatched(body):
        return None
    return [*fewest, *tail]


def _count_unmatched(departures: Sequence[Departure]) -> int:
    return sum(each.count + each.other_count + _DEPARTURE_COST for each in departures)


def _find_fewest_edits(one: Sequence[int], other: Sequence[int], limit: int) -> list[Departure] | None:
    """Return the departures with the fewest unmatched calls; None for more than `limit`, or if the search is too long.

    E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986.
    """
    furthest = {1: 0}
    passed: list[dict[int, int]] = []
    looked_at = 0
    for edits in range(limit + 1):
        passed.append(furthest.copy())
        for shift in range(-edits, edits + 1, 2):
            is_theirs = shift == -edits or (shift != edits and furthest[shift - 1] < furthest[shift + 1])
            begin = at = furthest[shift + 1] if is_theirs else furthest[shift - 1] + 1
            while at < len(one) and 0 <= at - shift < len(other) and one[at] == other[at - shift]:
                at += 1
            furthest[shift] = at
            if at >= len(one) and at - shift >= len(other):
                return _trace_departures(passed, len(one), len(other))
            looked_at += at - begin
        if looked_at > _MAX_COMPARED_CALLS:
            break
    return None


def _trace_departures(passed: Sequence[dict[int, int]], start: int, other_at: int) -> list[Departure]:
    """Trace the edits back from the end. `passed` has the furthest places for each number of edits."""
    found: list[Departure] = []
    for edits in range(len(passed) - 1, 0, -1):
        furthest, shift = passed[edits], start - other_at
        is_theirs = shift == -edits or (shift != edits and furthest[shift - 1] < furthest[shift + 1])
        before = shift + 1 if is_theirs else shift - 1
        start, other_at = furthest[before], furthest[before] - before
        count, other_count = (0, 1) if is_theirs else (1, 0)
        if found and (found[-1].start, found[-1].other_start) == (start + count, other_at + other_count):
            later = found.pop()
            count, other_count = count + later.count, other_count + later.other_count
        found.append(Departure(start, count, other_at, other_count))
    return found[::-1]


def _align_greedily(sequence: Integers, reference: Integers) -> SequenceAlignment:
    """Align two sequences greedily from the front, which is fast for similar sequences."""
    mine = [_hash_runs(sequence, length) for length in (_LONG_RUN, _SHORT_RUN, 1)]
    theirs = [_hash_runs(reference, length) for length in (_LONG_RUN, _SHORT_RUN, 1)]
    matched = np.full(len(reference), -1, np.int64)
    departures: list[Departure] = []
    at = other_at = 0
    while True:
        alike = _measure_common_prefix(sequence[at:], reference[other_at:])
        matched[other_at : other_at + alike] = np.arange(at, at + alike)
        at, other_at = at + alike, other_at + alike
        if at == len(sequence) and other_at == len(reference):
            break
        count, other_count = len(sequence) - at, len(reference) - other_at
        if len(departures) < MAX_DEPARTURES - 1:
            count, other_count = _find_gap(sequence, reference, mine, theirs, at, other_at)
        departures.append(Departure(at, count, other_at, other_count))
        at, other_at = at + count, other_at + other_count
    return SequenceAlignment(tuple(departures), matched)


def align_closely(sequence: Integers, reference: Integers) -> SequenceAlignment:
    """Align two sequences, then align the calls within each departure as well."""
    rough = align_sequences(sequence, reference)
    matched = rough.matched.copy()
    departures: list[Departure] = []
    for each in rough.departures:
        mine = sequence[each.start : each.start + each.count]
        within = align_sequences(mine, reference[each.other_start : each.other_start + each.other_count])
        alike = np.flatnonzero(within.matched >= 0)
        matched[each.other_start + alike] = each.start + within.matched[alike]
        departures += [
            Departure(each.start + part.start, part.count, each.other_start + part.other_start, part.other_count)
            for part in within.departures
        ]
    return SequenceAlignment(tuple(departures), matched)


def _measure_common_prefix(one: Integers, other: Integers) -> int:
    """Return the number of equal calls at the beginning."""
    most = min(len(one), len(other))
    done, step = 0, 64
    while done < most:
        different = np.flatnonzero(one[done : done + step][: most - done] != other[done : done + step][: most - done])
        if len(different):
            return done + int(different[0])
        done += step
        step *= 4
    return most


def _hash_runs(sequence: Integers, length: int) -> npt.NDArray[np.uint64]:
    """Return a hash of the next `length` calls at each place, including the end."""
    padded = np.concatenate([sequence + 2, np.ones(length, np.int64)]).astype(np.uint64)
    runs = np.zeros(len(sequence) + 1, np.uint64)
    for place in range(length):
        runs += padded[place : place + len(runs)] * np.uint64(pow(_HASH_FACTOR, place, 1 << 64))
    return runs


def _find_gap(
    sequence: Integers,
    reference: Integers,
    mine: list[npt.NDArray[np.uint64]],
    theirs: list[npt.NDArray[np.uint64]],
    start: int,
    other_at: int,
) -> tuple[int, int]:
    """Return how many calls of each sequence to skip until they match again."""
    near = _find_next_match(mine[0], theirs[0], start, other_at, _NEAR_CALLS)
    is_end = near is not None and start + near[0] == len(sequence)  # every sequence has an end
    if near is not None and max(near) <= _LONG_RUN and not is_end:
        return near
    for short in (1, 2):
        found = _find_next_match(mine[short], theirs[short], start, other_at, _NEAR_CALLS)
        if (
            found is not None
            and _compute_equal_share(sequence[start + found[0] :], reference[other_at + found[1] :]) >= _MIN_MATCH_SHARE
        ):
            return found
    far = near or _find_next_match(mine[0], theirs[0], start, other_at, _FAR_CALLS)
    return far or (len(sequence) - start, len(reference) - other_at)


def _compute_equal_share(one: Integers, other: Integers) -> float:
    """Return the share of equal calls among the next ones."""
    most = min(len(one), len(other), _NEAR_CALLS)
    return float(np.mean(one[:most] == other[:most])) if most else 0.0


def _find_next_match(
    mine: npt.NDArray[np.uint64], theirs: npt.NDArray[np.uint64], start: int, other_at: int, within: int
) -> tuple[int, int] | None:
    """Return the smallest skip after which the hashes match, within `within` calls; None if there is none.

    Loops repeat, so the calls that would be left over at the end count too.
    """
    one, other = mine[start : start + within], theirs[other_at : other_at + within]
    _, here, there = np.intersect1d(one, other, return_indices=True)
    found = [(int(first), int(second)) for first, second in zip(here, there, strict=True)]
    longer = (len(mine) - start) - (len(theirs) - other_at)
    for shift in {*range(-_LONG_RUN, _LONG_RUN + 1), longer}:
        skipped, other_skipped = max(shift, 0), max(-shift, 0)
        both = min(len(one) - skipped, len(other) - other_skipped)
        if both > 0 and (same := np.flatnonzero(one[skipped:][:both] == other[other_skipped:][:both])).size:
            found.append((skipped + int(same[0]), other_skipped + int(same[0])))
    return min(found, key=lambda each: (max(each) + abs(longer - each[0] + each[1]), sum(each)), default=None)
