"""Merge the stack paths below a line in two recordings into one tree, with forks and joins.

Frames are matched by function name, so moved lines and other jaxlib builds are not differences. An inserted frame is a
difference, but the frames below it are not. For display, consecutive frames without a fork form one run.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.diff.model import PathFrame
from framedex.model.path_trees import PathTrees, function_key, strip_build_numbers

if TYPE_CHECKING:
    from framedex.diff.model import PathFrame
    from framedex.model.functions import LineCallee
    from framedex.model.guidebook import PathNode


_Key = tuple[str, str]


def build_path_trees(below: Iterable[LineCallee]) -> tuple[PathNode, ...]:
    """Return the stack paths of calls as trees."""
    trees = PathTrees(function_key)
    for each in below:
        trees.add_path(each.path, each.calls)
    return trees.truncate(limit=sys.maxsize)[0]


def merge_differing_paths(before: Sequence[PathNode], after: Sequence[PathNode]) -> tuple[PathFrame, ...]:
    """Return both trees merged, restricted to the paths that differ; empty if none do."""
    return tuple(
        _find_differing_frames(_merge([_annotate(root) for root in before], [_annotate(root) for root in after]))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _PathNode:
    """A frame of a tree, with the data of the frames below it.

    `functions` are the runtime functions below it, `keys` the keys of this frame and of all frames below it.
    """

    node: PathNode
    key: _Key
    callees: tuple[_PathNode, ...]
    functions: frozenset[str]
    keys: frozenset[_Key]


def _annotate(root: PathNode) -> _PathNode:
    found: dict[int, _PathNode] = {}
    for node in reversed(_list_all_frames(root)):  # callees before their callers
        key = strip_build_numbers(node.function), node.language
        below = tuple(found[id(each)] for each in node.callees)
        ends = frozenset[str]().union(*(each.functions for each in below)) if below else frozenset((node.function,))
        found[id(node)] = _PathNode(node, key, below, ends, frozenset((key,)).union(*(each.keys for each in below)))
    return found[id(root)]


def _list_all_frames(root: PathNode) -> list[PathNode]:
    frames = [root]
    for node in frames:  # the list grows while it is read
        frames.extend(node.callees)
    return frames


@dataclass(frozen=True, slots=True)
class _MergedNode:
    """A frame of the merged tree, and the frames below it in each recording."""

    frame: PathFrame
    before: Sequence[_PathNode]
    after: Sequence[_PathNode]


def _merge(before: Sequence[_PathNode], after: Sequence[_PathNode]) -> Iterator[PathFrame]:
    """Yield the frames of both trees. Paths may have thousands of frames, so this is not recursive."""
    pending = list(_find_next_steps(0, before, after))[::-1]
    while pending:
        step = pending.pop()
        yield step.frame
        pending.extend(list(_find_next_steps(step.frame.depth + 1, step.before, step.after))[::-1])


def _find_next_steps(depth: int, before: Sequence[_PathNode], after: Sequence[_PathNode]) -> Iterator[_MergedNode]:
    """Yield the frames at one depth: shared frames, then frames of one recording until both recordings join again."""
    right = {each.key: each for each in after}
    for one in before:
        if other := right.get(one.key):
            yield _MergedNode(
                _build_path_frame(depth, one.node, one.node.calls, other.node.calls), one.callees, other.callees
            )
    removed = [each for each in before if each.key not in right]
    added = [each for each in after if each.key not in {one.key for one in before}]
    for each in list(added):
        if rejoined := [one for one in removed if one.key in each.keys]:
            added.remove(each)
            removed = [one for one in removed if one not in rejoined]
            yield _MergedNode(_build_path_frame(depth, each.node, 0, each.node.calls), rejoined, each.callees)
    for each in removed:
        rejoined = [one for one in added if one.key in each.keys] or [
            one for one in added if one.functions & each.functions
        ]
        added = [one for one in added if one not in rejoined]
        yield _MergedNode(_build_path_frame(depth, each.node, each.node.calls, 0), each.callees, rejoined)
    for each in added:
        yield _MergedNode(_build_path_frame(depth, each.node, 0, each.node.calls), (), each.callees)


def _build_path_frame(depth: int, node: PathNode, before: int, after: int) -> PathFrame:
    return PathFrame(depth, node.function, node.language, node.place, before, after)


def _find_differing_frames(frames: Iterable[PathFrame]) -> list[PathFrame]:
    """Return the frames that only one recording has, and the callers of these frames."""
    found: list[PathFrame] = []
    kept_depth = -1  # the depth of a kept frame, whose caller must be kept too
    for frame in reversed(list(frames)):
        if not frame.is_shared or frame.depth == kept_depth - 1:
            found.append(frame)
            kept_depth = frame.depth
    return found[::-1]


@dataclass(frozen=True, slots=True)
class FrameRun:
    """Frames in sequence, outermost first. `preceding_forks` counts the forks before them.

    `mark` is "-" for frames of the earlier recording only, "+" for the later one only, else a blank.
    """

    preceding_forks: int
    mark: str
    frames: tuple[PathFrame, ...]


def split_runs(branches: Sequence[PathFrame]) -> list[FrameRun]:
    """Return the runs of a tree, callers before their callees."""
    parents = _caller_positions(branches)
    callees = Counter(parents)
    forks: list[int] = []
    found: list[tuple[int, list[PathFrame]]] = []
    for branch, parent in zip(branches, parents, strict=True):
        is_only = parent >= 0 and callees[parent] == 1
        forks.append(forks[parent] + (not is_only) if parent >= 0 else 0)
        if is_only and _run_mark(branches[parent]) == _run_mark(branch):
            found[-1][1].append(branch)
        else:
            found.append((forks[-1], [branch]))
    return [FrameRun(number, _run_mark(frames[0]), tuple(frames)) for number, frames in found]


def _run_mark(branch: PathFrame) -> str:
    return " " if branch.is_shared else "-" if branch.before else "+"


def _caller_positions(branches: Sequence[PathFrame]) -> list[int]:
    """Return the position of each frame's caller; -1 for the outermost."""
    parents = []
    callers: list[int] = []
    for position, branch in enumerate(branches):
        del callers[branch.depth :]
        parents.append(callers[-1] if callers else -1)
        callers.append(position)
    return parents
