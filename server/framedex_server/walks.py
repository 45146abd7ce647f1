"""Walks along recorded stacks: a question about a line continues the walk that most recently led to it.

A client does not report how its user reached a line. So each answer records its targets with the stacks that reach
them. A request on a target stays on these stacks, even after requests on other lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.index import Index

MAX_ARRIVALS = 5000
"""Maximum number of recorded arrivals; the oldest are forgotten."""

_FrameOrLine = int | tuple[str, int, int]
"""The id of a frame; else a path with the id of a recorded state of the file and the line's number in it."""


@dataclass(frozen=True, slots=True)
class WalkTarget:
    """A target of an answer: its real path, 1-based line, and frame (None within a program) with its nodes.

    `nodes` are those of the stacks that reach the target, as in `framedex.model.StackPath`: empty within a program,
    None if unknown. `turns_outward`: a step from the innermost line of a program leads to this line, which runs the
    program.
    """

    path: str
    line: int
    frame: int | None
    nodes: tuple[int, ...] | None
    turns_outward: bool = False


@dataclass(frozen=True, slots=True)
class _Arrival:
    """The target of one answer (numbered in order), and the captures that its index had."""

    answer: int
    captures: frozenset[int]
    nodes: tuple[int, ...] | None
    turns_outward: bool


class Walks:
    """The targets of one client's answers. A walk ends if its index is replaced or loses a capture.

    Targets are identified by their frames or recorded lines, so walks continue after edits and new recordings.
    """

    def __init__(self) -> None:
        self._answers = 0
        self._arrivals: dict[tuple[object, _FrameOrLine], _Arrival] = {}
        self._indexes: dict[tuple[str, int | None], Path] = {}

    def index_at(self, path: str, line: int) -> Path | None:
        """Return the index of the answer that most recently led to the line, else to its file; None if none did."""
        return self._indexes.get((path, line)) or self._indexes.get((path, None))

    def nodes_at(self, index: Index, path: str, line: int) -> tuple[int, ...] | None:
        """Return the nodes of the stacks by which an answer most recently led to a line; None if unknown."""
        arrivals = [arrival for arrival in self._find_arrivals(index, path, line) if arrival.nodes is not None]
        if not arrivals:
            return None
        latest = max(arrival.answer for arrival in arrivals)
        nodes = (arrival.nodes or () for arrival in arrivals if arrival.answer == latest)
        return tuple(dict.fromkeys(node for reached in nodes for node in reached))

    def has_turned_at(self, index: Index, path: str, line: int) -> bool:
        """Return whether the answer that most recently led to a line had turned outward from inside a program."""
        arrivals = list(self._find_arrivals(index, path, line))
        return bool(arrivals) and max(arrivals, key=lambda arrival: arrival.answer).turns_outward

    def record_answer(self, index: Index, targets: Iterable[WalkTarget]) -> None:
        """Record the targets of an answer from an index."""
        self._answers += 1
        captures = index.capture_ids()
        for target in targets:
            if target.nodes is None and not target.turns_outward:
                continue
            for key in self._keys_of(index, target):
                self._add((index.path, index.identity), key, captures, target)
            for place in ((target.path, target.line), (target.path, None)):
                self._indexes.pop(place, None)
                self._indexes[place] = index.path
        _forget_oldest(self._arrivals)
        _forget_oldest(self._indexes)

    @staticmethod
    def _keys_of(index: Index, target: WalkTarget) -> list[_FrameOrLine]:
        if target.frame is not None:
            return [target.frame]
        return [(target.path, *number) for number in index.line(target.path, target.line).recorded_numbers()]

    def _add(self, index: object, key: _FrameOrLine, captures: frozenset[int], target: WalkTarget) -> None:
        """Add a target of the present answer. Several targets of one answer may share a frame: their nodes add up."""
        earlier = self._arrivals.pop((index, key), None)
        nodes = target.nodes
        if earlier is not None and earlier.answer == self._answers and earlier.nodes is not None:
            nodes = tuple(dict.fromkeys((*earlier.nodes, *(nodes or ()))))
        self._arrivals[index, key] = _Arrival(self._answers, captures, nodes, target.turns_outward)

    def _find_arrivals(self, index: Index, path: str, line: int) -> Iterator[_Arrival]:
        if not self._arrivals:
            return
        on_line = index.line(path, line)
        keys: list[_FrameOrLine] = [*on_line.frame_ids(), *((path, *number) for number in on_line.recorded_numbers())]
        captures = index.capture_ids()
        for key in keys:
            arrival = self._arrivals.get(((index.path, index.identity), key))
            if arrival is not None and arrival.captures <= captures:
                yield arrival


def _forget_oldest(entries: dict[Any, Any]) -> None:
    for key in list(islice(entries, max(len(entries) - MAX_ARRIVALS, 0))):
        del entries[key]
