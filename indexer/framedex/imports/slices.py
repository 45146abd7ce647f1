"""Converts nested slices of time to stacks with self times."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from framedex.imports.building import ProfileBuilder

MAX_SLICES = 50_000_000
"""The maximum number of slices. A slice takes 48 bytes, and another 64 if begin and end are separate events."""
_END = -1  # marks an end instead of a frame


class _Slice(NamedTuple):
    """A slice: its frames, outermost first, its start, its self time, and numbers of its stack and labels."""

    frames: list[int]
    start: int
    self_time: int
    stack: int
    labels: int


class SliceCollector:
    """Collects the slices of one thread, in any order."""

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in range(6))  # start, end, frame, outer stack, labels, begin order
        self._edges = tuple(array("q") for _ in range(4))  # of begins and ends: time, frame, outer stack, order
        self._open_slices = 0
        self.overlapping = 0
        self.unbegun = 0
        self._latest = 0

    def __len__(self) -> int:
        return len(self._columns[0]) + len(self._edges[0])

    @property
    def first(self) -> int:
        """The earliest start, in ns."""
        return min(*self._columns[0], *self._edges[0], 1 << 62)

    def add(self, start: int, end: int, frame: int, outer: int = -1, labels: int = -1) -> None:
        """Add a slice, with times in ns and the numbers of its frame, outer stack and labels; -1 is none."""
        self._open_slices += 1
        self._add(start, end, frame, outer, labels, self._open_slices)

    def begin(self, start: int, frame: int, outer: int = -1) -> None:
        """Add the begin event of a slice whose end is a separate event."""
        self._open_slices += 1
        self._add_edge(start, frame, outer, self._open_slices)

    def end(self, time: int) -> None:
        """Add the end event of the slice that began last before `time`.

        Slices without an end last until the latest event.
        """
        self._add_edge(time, _END, -1, 0)

    def _add_edge(self, *values: int) -> None:
        self._latest = max(self._latest, values[0])
        for column, value in zip(self._edges, values, strict=True):
            column.append(value)

    def _pair_edges(self) -> None:
        """Pair begin and end events by time. Simultaneous events keep the order of the file."""
        frames = self._edges[1]
        begins, ends, is_open = array("q"), array("q"), array("q")
        for place in np.argsort(np.array(self._edges[0], np.int64), kind="stable").tolist():
            if frames[place] != _END:
                is_open.append(place)
            elif is_open:
                begins.append(is_open.pop())
                ends.append(place)
            else:
                self.unbegun += 1
        at, frame, outer, begun = (np.array(column, np.int64) for column in self._edges)
        begin = np.array(begins + is_open, np.int64)
        end = np.append(at[np.array(ends, np.int64)], np.full(len(is_open), self._latest))
        labels = np.full(len(begin), -1)
        for column, values in zip(
            self._columns, (at[begin], end, frame[begin], outer[begin], labels, begun[begin]), strict=True
        ):
            column.frombytes(values.astype(np.int64).tobytes())
        self._edges = tuple(array("q") for _ in self._edges)

    def _add(self, start: int, end: int, *values: int) -> None:
        self._latest = max(self._latest, end)
        for column, value in zip(self._columns, (start, max(end, start), *values), strict=True):
            column.append(value)

    def self_times(self) -> Iterator[_Slice]:
        """Yield the slices with their self times.

        The frames start at the nearest enclosing slice with a stack of its own. A slice that outlasts its parent is
        truncated at the parent's end, and counted as overlapping.
        """
        self._pair_edges()
        start, end, frame, outer, labels, begun = (np.array(column, np.int64) for column in self._columns)
        order = np.lexsort((begun, -end, start))  # the first of equal slices is the outer one
        stack: list[list[int]] = []  # end, start, self time, frame, outer stack, labels
        at = 0
        for place in order.tolist():
            begin, until = int(start[place]), int(end[place])
            while stack and stack[-1][0] <= begin:
                at = yield from _end_innermost(stack, at)
            if stack:
                stack[-1][2] += begin - at
                if until > stack[-1][0]:
                    self.overlapping += 1
                    until = stack[-1][0]
            stack.append([until, begin, 0, int(frame[place]), int(outer[place]), int(labels[place])])
            at = begin
        while stack:
            at = yield from _end_innermost(stack, at)


def _end_innermost(stack: list[list[int]], time: int) -> Generator[_Slice, None, int]:
    """End the innermost slice. Returns its end."""
    since = next((place for place in range(len(stack) - 1, -1, -1) if stack[place][4] >= 0), 0)
    frames, outer = [each[3] for each in stack[since:]], stack[since][4]
    end, start, own, _, _, labels = stack.pop()
    yield _Slice(frames, start, own + end - time, outer, labels)
    return end


def add_slices(
    builder: ProfileBuilder,
    slices: SliceCollector,
    thread: int,
    outer: list[list[int]],
    origin: int,
    labels: Sequence[Mapping[str, object]] = (),
) -> None:
    """Add the slices of a thread as samples.

    `outer` are the stacks, and `labels` the labels, that slices refer to by number. Stacks are innermost frame first.
    """
    for each in slices.self_times():
        frames = each.frames[::-1] + (outer[each.stack] if each.stack >= 0 else [])
        own_labels = labels[each.labels] if each.labels >= 0 else None
        builder.add_sample(frames, thread, [1, each.self_time], own_labels, start=each.start - origin)
    for _ in range(slices.unbegun):
        builder.count_skipped("end", "of slices without a begin")
    for _ in range(slices.overlapping):
        builder.count_skipped("slice", "in part, because it ends after its parent")
