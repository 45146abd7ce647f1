"""Merge the stack paths below a line in two recordings into one tree, with forks and joins.

Frames are matched by function name, so moved lines and other jaxlib builds are not differences. An inserted frame is a
difference, the frames below it are not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.diff.model import Branch
from framedex.roadtrees import RoadTrees, by_function, name_in_any_build

if TYPE_CHECKING:
    from framedex.model.below_lines import BelowLine
    from framedex.model.guidebook.observed import Road

_Key = tuple[str, str]


def roads_of(below: Iterable[BelowLine]) -> tuple[Road, ...]:
    """Return the stack paths of calls as trees."""
    trees = RoadTrees(by_function)
    for each in below:
        trees.add_way(each.way, each.calls)
    return trees.cut(most=sys.maxsize)[0]


def divided(before: Sequence[Road], after: Sequence[Road]) -> tuple[Branch, ...]:
    """Return both trees merged, restricted to the paths that differ; empty if none do."""
    return tuple(_that_differ(_merged([_passed(road) for road in before], [_passed(road) for road in after])))


@dataclass(frozen=True, slots=True, eq=False)
class _Passed:
    """A frame of a tree: `ends` are the runtime functions below it, `keys` all frames from it on."""

    road: Road
    key: _Key
    below: tuple[_Passed, ...]
    ends: frozenset[str]
    keys: frozenset[_Key]


def _passed(root: Road) -> _Passed:
    found: dict[int, _Passed] = {}
    for road in reversed(_all(root)):  # callees before their callers
        key = name_in_any_build(road.function), road.language
        below = tuple(found[id(each)] for each in road.roads)
        ends = frozenset[str]().union(*(each.ends for each in below)) if below else frozenset((road.function,))
        found[id(road)] = _Passed(road, key, below, ends, frozenset((key,)).union(*(each.keys for each in below)))
    return found[id(root)]


def _all(root: Road) -> list[Road]:
    roads = [root]
    for road in roads:  # the list grows while it is read
        roads.extend(road.roads)
    return roads


@dataclass(frozen=True, slots=True)
class _Step:
    """A frame of the merged tree, and the frames below it in each recording."""

    frame: Branch
    before: Sequence[_Passed]
    after: Sequence[_Passed]


def _merged(before: Sequence[_Passed], after: Sequence[_Passed]) -> Iterator[Branch]:
    """Yield the frames of both trees. Paths may have thousands of frames, so this is not recursive."""
    pending = list(_steps(0, before, after))[::-1]
    while pending:
        step = pending.pop()
        yield step.frame
        pending.extend(list(_steps(step.frame.depth + 1, step.before, step.after))[::-1])


def _steps(depth: int, before: Sequence[_Passed], after: Sequence[_Passed]) -> Iterator[_Step]:
    """Yield the next frames at one depth: common frames first, then those of one side, until both sides join again."""
    right = {each.key: each for each in after}
    for one in before:
        if other := right.get(one.key):
            yield _Step(_branch(depth, one.road, one.road.calls, other.road.calls), one.below, other.below)
    went = [each for each in before if each.key not in right]
    came = [each for each in after if each.key not in {one.key for one in before}]
    for each in list(came):
        if met := [one for one in went if one.key in each.keys]:
            came.remove(each)
            went = [one for one in went if one not in met]
            yield _Step(_branch(depth, each.road, 0, each.road.calls), met, each.below)
    for each in went:
        met = [one for one in came if one.key in each.keys] or [one for one in came if one.ends & each.ends]
        came = [one for one in came if one not in met]
        yield _Step(_branch(depth, each.road, each.road.calls, 0), each.below, met)
    for each in came:
        yield _Step(_branch(depth, each.road, 0, each.road.calls), (), each.below)


def _branch(depth: int, road: Road, before: int, after: int) -> Branch:
    return Branch(depth, road.function, road.language, road.place, before, after)


def _that_differ(frames: Iterable[Branch]) -> list[Branch]:
    """Return the frames of one recording only, and their callers."""
    found: list[Branch] = []
    wanted = -1  # the depth of a kept frame, whose caller must be kept too
    for frame in reversed(list(frames)):
        if not frame.is_shared or frame.depth == wanted - 1:
            found.append(frame)
            wanted = frame.depth
    return found[::-1]
