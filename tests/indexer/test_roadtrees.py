"""Ways to calls become trees that count what passed, and are cut where they get too large."""

from __future__ import annotations

from framedex.model.guidebook import DisplayedFrame, DisplayedLocation, PathNode
from framedex.roadtrees import RoadTrees


def step(name: str, line: int = 1, folded: int = 0) -> DisplayedFrame:
    return DisplayedFrame(name, "python", DisplayedLocation(f"a.py:{line}", None, "exact"), folded)


def told(roads: tuple[PathNode, ...]) -> list[object]:
    return [(road.function, road.calls, told(road.roads)) for road in roads]


def test_what_ways_have_in_common_is_there_once_with_most_calls_first() -> None:
    trees = RoadTrees()
    trees.add_path([step("main"), step("put")], 2)
    trees.add_path([step("main"), step("fetch")], 5)
    trees.add_path([step("main", line=2)], 1)

    roads, left_out = trees.cut()

    assert told(roads) == [("main", 7, [("fetch", 5, []), ("put", 2, [])]), ("main", 1, [])]
    assert left_out == 0


def test_frames_that_most_calls_passed_stay_and_calls_of_others_are_counted() -> None:
    trees = RoadTrees()
    trees.add_path([step("main"), step("put"), step("copy")], 3)
    trees.add_path([step("main"), step("fetch")], 2)
    trees.add_path([step("other")], 1)

    roads, left_out = trees.cut(limit=3)

    assert told(roads) == [("main", 5, [("put", 3, [("copy", 3, [])])])]
    assert left_out == 3


def test_trees_of_several_runs_are_merged() -> None:
    one, other, both = RoadTrees(), RoadTrees(), RoadTrees()
    one.add_path([step("main"), step("put", folded=2)], 3)
    other.add_path([step("main"), step("put", folded=4)], 4)
    other.add_path([step("main"), step("fetch")], 1)
    for trees, most in ((one, 9), (other, 2)):
        both.add_trees(*trees.cut(most))

    roads, left_out = both.cut()

    assert told(roads) == [("main", 8, [("put", 7, [])])]
    assert roads[0].roads[0].folded == 2
    assert left_out == 1


def test_a_way_without_frames_is_of_no_tree() -> None:
    trees = RoadTrees()
    trees.add_path([], 4)

    assert trees.cut() == ((), 0)
