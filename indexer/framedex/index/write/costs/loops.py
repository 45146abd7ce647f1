"""The loops of a program, found by what a thread does again and again.

What is looked at are a thread's *marks*: what it compiled, ran, transferred and waited for, each with its place in the
program (the node of the tree, so the way to a line and the instruction in it). Some such place is passed
once in each round; those that are passed as often are of the same loop. One place that runs programs again and again
without another in between is a loop of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.index.write.tree import Integers

LEAST_ROUNDS = 4
"""Of a loop: fewer may be anything."""

MOST_LOOPS = 20
"""Loops of a capture that are told: those that took longest."""

_MOST_PLACES = 500  # of a thread that are looked at: those that are passed most often
_MOST_FOUND = 2 * MOST_LOOPS  # of which those are told that took longest
_MOST_RUNS = 2_000  # times that a place is passed again and again: the longest
_FOREIGN = 4, 8  # times the marks of a usual round, and so many more: what has more is no round but something between
_REGULAR = 0.6  # of the rounds have as many marks as the median, a quarter more or less
_LEAST_SHARE = 100  # a loop takes a hundredth of its thread's time


@dataclass(frozen=True, slots=True)
class Marks:
    """What a thread did, in order of start: where in the program, by which stack, from when to when (ns)."""

    node: Integers
    stack: Integers
    start: Integers
    end: Integers
    call: Integers
    is_run: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, rows: Integers) -> Marks:
        return Marks(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of a loop, in order: the mark that each begins with, and from when to when they last (ns).

    `nodes` are the places that are passed in each of them; the first is where they begin.
    """

    nodes: tuple[int, ...]
    mark: Integers
    start: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.mark)

    @property
    def duration(self) -> int:
        """Of all rounds."""
        return int((self.end - self.start).sum())


def loops(marks: Marks) -> list[Rounds]:
    """The loops of a thread that take a part of its time, the longest first."""
    if len(marks) < LEAST_ROUNDS:
        return []
    whole = int(np.max(marks.end) - marks.start[0])
    found = [*_over_places(marks), *_on_one_place(marks)]
    kept = [rounds for rounds in found if rounds.duration * _LEAST_SHARE >= whole]
    return sorted(kept, key=lambda rounds: (-rounds.duration, -len(rounds)))[:MOST_LOOPS]


def _over_places(marks: Marks) -> Iterator[Rounds]:
    """Loops whose rounds pass several places."""
    visits = _visits(marks, _beginnings(marks.node), LEAST_ROUNDS)
    taken: set[int] = set()
    found = 0
    for node, passed in visits.items():
        if node in taken or found == _MOST_FOUND or (rounds := _rounds(marks, passed)) is None:
            continue
        found += 1
        same = [other for other in visits if other not in taken and _is_once(marks, rounds, visits[other])]
        taken.update((node, *same))
        yield Rounds((node, *(each for each in same if each != node)), rounds.mark, rounds.start, rounds.end)


def _beginnings(column: Integers) -> Integers:
    """Where something else begins in a column."""
    return np.flatnonzero(np.append(True, column[1:] != column[:-1])[: len(column)])


def _visits(marks: Marks, visit: Integers, least: int) -> dict[int, Integers]:
    """Of these first marks of visits those of each place with at least so many, those that are passed most first."""
    order = visit[np.argsort(marks.node[visit], kind="stable")]
    begin = _beginnings(marks.node[order])
    groups = [group for group in np.split(order, begin[1:]) if len(group) >= least]
    groups.sort(key=lambda group: (-len(group), int(group[0])))
    return {int(marks.node[group[0]]): group for group in groups[:_MOST_PLACES]}


def _on_one_place(marks: Marks) -> Iterator[Rounds]:
    """Loops on one place that runs programs: between others it is passed by the same stack again and again."""
    begin = _beginnings(marks.node)
    length = np.diff(np.append(begin, len(marks)))
    long = np.flatnonzero(length >= LEAST_ROUNDS)
    for of_place in _visits(marks, begin[long], 1).values():
        places = np.searchsorted(begin, of_place)
        longest = np.sort(places[np.argsort(-length[places], kind="stable")[:_MOST_RUNS]])
        bounds = zip(begin[longest].tolist(), (begin[longest] + length[longest]).tolist(), strict=True)
        parts = [part for first, behind in bounds if len(part := _repeated(marks, first, behind))]
        if parts and (rounds := _rounds(marks, np.concatenate(parts))) is not None:
            yield rounds


def _repeated(marks: Marks, begin: int, end: int) -> Integers:
    """The marks with which rounds begin within marks of one place: of the first stack that comes as often as a run.

    What is before the first is a round, too, where that is no more than two: a function is compiled by other stacks.
    """
    stacks, first, count = np.unique(marks.stack[begin:end], return_index=True, return_counts=True)
    most = np.max(count[np.isin(stacks, marks.stack[begin:end][marks.is_run[begin:end]])], initial=0)
    if most < LEAST_ROUNDS - 1:
        return first[:0]
    anchor = stacks[np.flatnonzero(np.abs(count - most) <= 1)][np.argmin(first[np.abs(count - most) <= 1])]
    found: Integers = begin + np.flatnonzero(marks.stack[begin:end] == anchor)
    if 0 < found[0] - begin <= 2 * np.median(np.diff(found)) + 2:
        found = np.append(begin, found)
    return found


def _rounds(marks: Marks, begins: Integers) -> Rounds | None:
    """The rounds that begin with these marks; None where they are too few, or no two alike."""
    if len(begins) < LEAST_ROUNDS:
        return None
    sizes = np.diff(begins)
    usual = np.median(sizes)
    times, more = _FOREIGN
    goes_on = sizes <= times * usual + more
    stretch = np.cumsum(np.append(0, ~goes_on))
    is_kept = np.bincount(stretch)[stretch] >= LEAST_ROUNDS
    regular = np.abs(sizes[goes_on] - usual) <= usual / 4
    if is_kept.sum() < LEAST_ROUNDS or regular.mean() < _REGULAR:
        return None
    goes_on = np.append(goes_on, False)
    start = marks.start[begins]
    end = np.append(start[1:], 0)
    for last in np.flatnonzero(is_kept & ~goes_on).tolist():
        since = int(begins[np.searchsorted(stretch, stretch[last])])
        end[last] = _end(marks, since, int(begins[last]), int(times * usual + more))
    return Rounds((int(marks.node[begins[0]]),), begins[is_kept], start[is_kept], end[is_kept])


def _end(marks: Marks, first: int, last: int, most: int) -> int:
    """When the round that begins with the mark `last` is over: before what no round since `first` had.

    It has at most as many marks as a round may have, and passes the place where it begins once.
    """
    coming = marks.node[last : last + most]
    known = np.unique(marks.node[first:last])
    foreign = np.flatnonzero(~np.isin(coming, known))
    begins = _beginnings(coming)
    again = begins[1:][coming[begins[1:]] == coming[0]]
    behind = min([len(coming), *foreign[:1].tolist(), *again[:1].tolist()])
    return int(np.max(marks.end[last : last + max(behind, 1)]))


def _is_once(marks: Marks, rounds: Rounds, passed: Integers) -> bool:
    """Whether a place is passed about once in each of the rounds, and nowhere else to speak of."""
    place = np.searchsorted(rounds.mark, passed, side="right") - 1
    inside = (place >= 0) & (marks.start[passed] < rounds.end[np.maximum(place, 0)])
    return bool(0.9 <= inside.sum() / len(rounds) <= 1.05 and inside.sum() >= 0.9 * len(passed))
