"""Paths to calls become counting trees, which are cut when they get too large."""

from __future__ import annotations

from framedex.model.guidebook import DisplayedFrame, DisplayedLocation, PathNode
from framedex.model.path_trees import PathTrees


def step(name: str, line: int = 1, folded: int = 0) -> DisplayedFrame:
    return DisplayedFrame(name, "python", DisplayedLocation(f"a.py:{line}", None, "exact"), folded)


def summarize(roots: tuple[PathNode, ...]) -> list[object]:
    return [(node.function, node.calls, summarize(node.callees)) for node in roots]


def test_common_beginnings_of_paths_are_merged_with_most_calls_first() -> None:
    trees = PathTrees()
    trees.add_path([step("main"), step("put")], 2)
    trees.add_path([step("main"), step("fetch")], 5)
    trees.add_path([step("main", line=2)], 1)

    roots, left_out = trees.truncate()

    assert summarize(roots) == [("main", 7, [("fetch", 5, []), ("put", 2, [])]), ("main", 1, [])]
    assert left_out == 0


def test_frames_with_most_calls_are_kept_and_calls_of_others_are_counted() -> None:
    trees = PathTrees()
    trees.add_path([step("main"), step("put"), step("copy")], 3)
    trees.add_path([step("main"), step("fetch")], 2)
    trees.add_path([step("other")], 1)

    roots, left_out = trees.truncate(limit=3)

    assert summarize(roots) == [("main", 5, [("put", 3, [("copy", 3, [])])])]
    assert left_out == 3


def test_trees_of_several_runs_are_merged() -> None:
    one, other, both = PathTrees(), PathTrees(), PathTrees()
    one.add_path([step("main"), step("put", folded=2)], 3)
    other.add_path([step("main"), step("put", folded=4)], 4)
    other.add_path([step("main"), step("fetch")], 1)
    for trees, most in ((one, 9), (other, 2)):
        both.add_trees(*trees.truncate(most))

    roots, left_out = both.truncate()

    assert summarize(roots) == [("main", 8, [("put", 7, [])])]
    assert roots[0].callees[0].folded == 2
    assert left_out == 1


def test_a_path_without_frames_is_in_no_tree() -> None:
    trees = PathTrees()
    trees.add_path([], 4)

    assert trees.truncate() == ((), 0)
