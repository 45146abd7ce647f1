"""Trees of merged stack paths: the paths to a function's calls share the nodes of their common beginning."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from framedex.model.guidebook import DisplayedFrame, PathNode

MAX_FRAMES = 400
"""The maximum number of frames in the trees of a function."""

_NUMBERED = re.compile(r"(?<=\$_)\d+|(?<=#)\d+(?=\})|\+0x[0-9a-f]+(?= \(unnamed)")


def location_key(passed: DisplayedFrame) -> Hashable:
    """The node key of a frame: its function and its source line."""
    return passed.function, passed.language, passed.place


def function_key(passed: DisplayedFrame) -> Hashable:
    """A node key that ignores the line, which moves from release to release."""
    return strip_build_numbers(passed.function), passed.language


def strip_build_numbers(function: str) -> str:
    """A function's name without parts that vary between builds: lambda numbers and offsets of unnamed functions."""
    return _NUMBERED.sub("", function)


@dataclass(slots=True, eq=False)
class _Node:
    first: DisplayedFrame
    calls: int = 0
    children: dict[Hashable, _Node] = field(default_factory=dict)
    is_shown: bool = False


class PathTrees:
    """Builds the trees from stack paths. A node keeps the number of folded frames of its first frame.

    `key_of` returns the node key of a frame.
    """

    def __init__(self, key_of: Callable[[DisplayedFrame], Hashable] = location_key) -> None:
        self._roots: dict[Hashable, _Node] = {}
        self._key_of = key_of
        self._left_out = 0

    def add_path(self, frames: Sequence[DisplayedFrame], calls: int) -> None:
        """Add calls with this stack path. A path without frames is in no tree."""
        at = self._roots
        for passed in frames:
            at = self._count_node(at, passed, calls).children

    def add_trees(self, paths: Iterable[PathNode], left_out: int) -> None:
        """Add trees of other calls; `left_out` is the number of their calls on cut-off paths."""
        self._left_out += left_out
        pending = [(node, self._roots) for node in paths]
        while pending:
            node, at = pending.pop()
            merged = self._count_node(
                at, DisplayedFrame(node.function, node.language, node.place, node.folded), node.calls
            )
            pending.extend((each, merged.children) for each in node.callees)

    def truncate(self, limit: int = MAX_FRAMES) -> tuple[tuple[PathNode, ...], int]:
        """The trees, limited to the `limit` frames with the most calls, and the number of calls on a cut-off path."""
        everything = list(self._roots.values())
        for node in everything:  # grows while iterating: callers come before their callees
            everything.extend(node.children.values())
        everything.sort(key=lambda node: -node.calls)  # stable: no callee comes before its caller
        for position, node in enumerate(everything):
            node.is_shown = position < limit
        return _shown_nodes(self._roots), self._left_out + _count_cut_off_calls(self._roots)

    def _count_node(self, children: dict[Hashable, _Node], passed: DisplayedFrame, calls: int) -> _Node:
        node = children.setdefault(self._key_of(passed), _Node(passed))
        node.calls += calls
        return node


def _shown_nodes(nodes: dict[Hashable, _Node]) -> tuple[PathNode, ...]:
    shown = [node for node in nodes.values() if node.is_shown]
    shown.sort(key=lambda node: (-node.calls, node.first.function, node.first.place.text))
    return tuple(
        PathNode(
            each.first.function,
            each.first.language,
            each.first.place,
            each.calls,
            each.first.folded,
            _shown_nodes(each.children),
        )
        for each in shown
    )


def _count_cut_off_calls(nodes: dict[Hashable, _Node]) -> int:
    return sum(_count_cut_off_calls(node.children) if node.is_shown else node.calls for node in nodes.values())
