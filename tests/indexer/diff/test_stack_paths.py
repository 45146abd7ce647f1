"""Stack paths of two recordings merged into one tree: forks, joins, and ignored differences."""

from __future__ import annotations

import random
from collections.abc import Sequence

from framedex.diff.model import PathFrame
from framedex.diff.stack_paths import build_path_trees, merge_differing_paths, split_runs
from framedex.model.functions import LineCallee
from framedex.model.guidebook import DisplayedFrame, DisplayedLocation


def below(*ways: str, line: int = 1) -> list[LineCallee]:
    """Stack paths such as `main put PJRT_Put`, with one call each; the last name is the runtime function."""
    return [LineCallee(None, way.split()[-1], tuple(_frames(way.split(), line)), 1, 0, 0) for way in ways]


def _frames(names: Sequence[str], line: int) -> list[DisplayedFrame]:
    place = DisplayedLocation(f"a.py:{line}", None, "exact")
    languages = ["native"] * (len(names) - 1) + ["boundary"]
    return [DisplayedFrame(name, language, place, 0) for name, language in zip(names, languages, strict=True)]


def describe_merge(before: Sequence[LineCallee], after: Sequence[LineCallee]) -> list[str]:
    return [
        f"{_mark(each)}{each.depth} {each.function}"
        for each in merge_differing_paths(build_path_trees(before), build_path_trees(after))
    ]


def _mark(branch: PathFrame) -> str:
    return " " if branch.is_shared else "-" if branch.before else "+"


def test_equal_paths_at_different_lines_are_not_a_difference() -> None:
    assert describe_merge(below("main put P", "main run Q"), below("main run Q", "main put P", line=9)) == []


def test_lambda_numbers_are_not_a_difference() -> None:
    assert describe_merge(below("f::$_14::operator() g{lambda#2} P"), below("f::$_15::operator() g{lambda#3} P")) == []


def test_the_address_of_an_unnamed_function_is_not_a_difference() -> None:
    one, other = (
        [LineCallee(None, "P", tuple(_frames([f"a.so+0x{at} (unnamed function)", "P"], 1)), 1, 0, 0)] for at in "12"
    )

    assert describe_merge(one, other) == []


def test_an_inserted_frame_is_the_only_difference() -> None:
    assert describe_merge(below("main put copy P"), below("main put cached copy P")) == [
        " 0 main",
        " 1 put",
        "+2 cached",
    ]


def test_an_inserted_frame_comes_before_its_callees() -> None:
    found = describe_merge(below("main put P", "main run Q"), below("main cached put P", "main cached run Q"))

    assert found == [" 0 main", "+1 cached"]


def test_replaced_frames_are_listed_one_after_the_other() -> None:
    assert describe_merge(below("main a b copy P"), below("main x copy P")) == [" 0 main", "-1 a", "-2 b", "+3 x"]


def test_diverging_paths_are_shown_to_their_end() -> None:
    assert describe_merge(below("main put P"), below("main put P", "main run Q")) == [" 0 main", "+1 run", "+2 Q"]


def test_swapped_recordings_swap_added_and_removed() -> None:
    dice = random.Random(7)
    for _ in range(300):
        sides = [below(*(_any_way(dice) for _ in range(dice.randrange(6)))) for _ in range(2)]
        ahead, back = (merge_differing_paths(*map(build_path_trees, each)) for each in (sides, sides[::-1]))
        only = [sorted((each.function, each.before) for each in found if not each.after) for found in (ahead, back)]
        gone = [sorted((each.function, each.after) for each in found if not each.before) for found in (ahead, back)]
        assert bool(ahead) == bool(back)
        if not sides[0] or not sides[1]:
            assert only == gone[::-1]
        assert describe_merge(sides[0], sides[0]) == []


def test_each_side_of_the_tree_has_only_its_own_frames() -> None:
    """For any two recordings, the list is a tree, and no frame has more calls than its recording."""
    dice = random.Random(11)
    for _ in range(300):
        sides = [below(*(_any_way(dice) for _ in range(dice.randrange(6)))) for _ in range(2)]
        found = merge_differing_paths(*map(build_path_trees, sides))
        names = [{frame.function for each in side for frame in each.path} for side in sides]
        for place, branch in enumerate(found):
            assert branch.depth == 0 or found[place - 1].depth >= branch.depth - 1
            assert not branch.before or branch.function in names[0]
            assert not branch.after or branch.function in names[1]
            assert max(branch.before - len(sides[0]), branch.after - len(sides[1])) <= 0
        assert [frame for run in split_runs(found) for frame in run.frames] == list(found)


def _any_way(dice: random.Random) -> str:
    return " ".join([*dice.choices("abcd", k=dice.randrange(1, 6)), dice.choice("PQ")])


def test_long_and_completely_different_paths_are_compared() -> None:
    before = below(" ".join([*(f"a{number}" for number in range(400)), "P"]))
    after = below(" ".join([*(f"b{number}" for number in range(400)), "P"]))

    found = merge_differing_paths(build_path_trees(before), build_path_trees(after))

    assert len(found) == 800
    assert [run.mark for run in split_runs(found)] == ["-", "+"]


def test_runs_are_frames_without_a_fork_between() -> None:
    found = merge_differing_paths(
        build_path_trees(below("main put copy P")), build_path_trees(below("main put x P", "main put y Q"))
    )

    assert [(run.mark, run.preceding_forks, [each.function for each in run.frames]) for run in split_runs(found)] == [
        (" ", 0, ["main", "put"]),
        ("-", 1, ["copy"]),
        ("+", 1, ["x"]),
        ("+", 1, ["y", "Q"]),
    ]
