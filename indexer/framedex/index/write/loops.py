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
    visit = np.flatnonzero(np.append(True, marks.node[1:] != marks.node[:-1]))  # the first mark of each
    place = marks.node[visit]
    nodes, first, count = np.unique(place, return_index=True, return_counts=True)
    many = np.flatnonzero(count >= LEAST_ROUNDS)
    many = many[np.lexsort((first[many], -count[many]))][:_MOST_PLACES]
    taken: set[int] = set()
    for node in nodes[many].tolist():
        if node in taken:
            continue
        rounds = _rounds(marks, visit[place == node])
        if rounds is None:
            continue
        same = [other for other in nodes[many].tolist() if other not in taken and _is_once(marks, rounds, visit, other)]
        taken.update((node, *same))
        yield Rounds((node, *(each for each in same if each != node)), rounds.mark, rounds.start, rounds.end)


def _on_one_place(marks: Marks) -> Iterator[Rounds]:
    """Loops on one place that runs programs: between others it is passed by the same stack again and again."""
    begin = np.flatnonzero(np.append(True, marks.node[1:] != marks.node[:-1]))
    length = np.diff(np.append(begin, len(marks)))
    long = np.flatnonzero(length >= LEAST_ROUNDS)
    for node in np.unique(marks.node[begin[long]]).tolist()[:_MOST_PLACES]:
        parts = [
            part
            for run in long[marks.node[begin[long]] == node].tolist()
            if len(part := _repeated(marks, int(begin[run]), int(begin[run] + length[run])))
        ]
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
        since = int(begins[np.flatnonzero(stretch == stretch[last])[0]])
        end[last] = _end(marks, since, int(begins[last]))
    return Rounds((int(marks.node[begins[0]]),), begins[is_kept], start[is_kept], end[is_kept])


def _end(marks: Marks, first: int, last: int) -> int:
    """When the round that begins with the mark `last` is over: before what no round since `first` had."""
    known = np.unique(marks.node[first:last])
    foreign = np.flatnonzero(~np.isin(marks.node[last:], known))
    behind = last + int(foreign[0]) if len(foreign) else len(marks)
    again = last + 1 + np.flatnonzero(marks.node[last + 1 : behind] == marks.node[last])
    if len(again) and (np.diff(np.append(last, again)) > 1).any():  # it is passed again, elsewhere
        behind = int(again[np.flatnonzero(np.diff(np.append(last, again)) > 1)[0]])
    return int(np.max(marks.end[last : max(behind, last + 1)]))


def _is_once(marks: Marks, rounds: Rounds, visit: Integers, node: int) -> bool:
    """Whether a place is passed about once in each of the rounds, and nowhere else to speak of."""
    passed = visit[marks.node[visit] == node]
    place = np.searchsorted(rounds.mark, passed, side="right") - 1
    inside = (place >= 0) & (marks.start[passed] < rounds.end[np.maximum(place, 0)])
    return bool(0.9 <= inside.sum() / len(rounds) <= 1.05 and inside.sum() >= 0.9 * len(passed))
