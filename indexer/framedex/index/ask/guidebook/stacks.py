"""The stacks of a capture's functions, as paths from the outermost shown frame to the call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from framedex.index.ask.call.pythonlines import python_nodes
from framedex.index.ask.capture.tree import capture_tree
from framedex.index.ask.guidebook.places import NOWHERE, PublicPlaces
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader, frames_by_id
from framedex.model import FrameRow, Role
from framedex.model.guidebook.observed import Passed, Place

UNMERGED = "native frames that could not be merged with those of Python"

_OUTERMOST, _INNERMOST = 40, 80
"""Numbers of frames shown of a longer path: recursion can be thousands deep."""

Way = tuple[Passed, ...]


class Ways:
    """The paths to the nodes of a capture's tree."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self.tree = capture_tree(reader, capture)
        self.places = PublicPlaces(reader, capture)
        self.chain = cache(self._chain)
        self._parents = {node: parent for node, parent, _ in self.tree.nodes}
        self._frame_of = {node: frame for node, _, frame in self.tree.nodes}
        self.frames = frames_by_id(reader, set(self._frame_of.values()))

    def _chain(self, leaf: int, above: int = 0) -> list[FrameRow]:
        """Return all frames on the path to a node, outermost first, or below `above`; the list is read-only."""
        found = []
        while leaf and leaf != above:
            found.append(self.frames[self._frame_of[leaf]])
            leaf = self._parents[leaf]
        return found[::-1]

    def way(self, frames: Sequence[FrameRow], boundary: str) -> Way:
        """Return the shown frames of a path to a boundary function's call, without the boundary function."""
        if frames and frames[-1].function.name == boundary:
            frames = frames[:-1]
        steps = []
        folded = 0
        for frame in frames:
            if frame.function.role is not Role.CODE:
                folded += 1
                continue
            steps.append(Passed(frame.function.name, frame.function.language.value, self.places.of(frame), folded))
            folded = 0
        return _without_middle(tuple(steps))


def _without_middle(way: Way) -> Way:
    if len(way) <= _OUTERMOST + _INNERMOST:
        return way
    inner = way[-_INNERMOST:]
    return (*way[:_OUTERMOST], replace(inner[0], folded=len(way) - _OUTERMOST - _INNERMOST), *inner[1:])


def ways_of_functions(reader: Reader, ways: Ways) -> dict[int, Counter[Way]]:
    """Return the paths to calls by boundary function (its id), with their numbers of calls."""
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    found: dict[int, Counter[Way]] = {}
    for end in ways.tree.ends:
        way = ways.way(ways.chain(end.leaf), names[end.boundary])
        if end.python_leaf:
            way = (Passed(UNMERGED, "native", NOWHERE, 0), *way)
        found.setdefault(end.boundary, Counter())[way] += end.calls
    return found


def lines_of_functions(reader: Reader, ways: Ways) -> dict[int, Counter[Place]]:
    """Return the program lines that led to calls by boundary function (its id), with their numbers of calls."""
    lines = lines_of_stacks(reader, {end.stack for end in ways.tree.ends}, ways.places)
    found: dict[int, Counter[Place]] = {}
    for end in ways.tree.ends:
        if end.stack in lines:
            found.setdefault(end.boundary, Counter())[lines[end.stack]] += end.calls
    return found


def lines_of_stacks(reader: Reader, stacks: Iterable[int], places: PublicPlaces) -> dict[int, Place]:
    """Return the innermost user line of each stack with Python, otherwise its innermost Python line."""
    nodes = python_nodes(reader, stacks)
    query = f"SELECT n.id, u.frame FROM nodes n JOIN nodes u ON u.id = n.user_node WHERE n.id {IN_JSON}"
    frame_of: dict[int, int] = dict(reader.rows(query, json_list(set(nodes.values()))))
    frames = frames_by_id(reader, set(frame_of.values()))
    return {stack: places.of(frames[frame_of[node]]) for stack, node in nodes.items() if node in frame_of}
