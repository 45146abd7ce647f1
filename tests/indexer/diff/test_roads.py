"""Roads of two recordings as one tree: where they divide, where they meet again, and what is no difference."""

from __future__ import annotations

import random
from collections.abc import Sequence

from framedex.diff.model import Branch
from framedex.diff.roads import divided, roads_of
from framedex.diff.runs import runs
from framedex.model.below_lines import BelowLine
from framedex.model.guidebook.observed import Passed, Place


def below(*ways: str, line: int = 1) -> list[BelowLine]:
    """Ways as `main put PJRT_Put`, with a call each; the last is the function of the runtime."""
    return [BelowLine(None, way.split()[-1], tuple(_frames(way.split(), line)), 1, 0, 0) for way in ways]


def _frames(names: Sequence[str], line: int) -> list[Passed]:
    place = Place(f"a.py:{line}", None, "exact")
    languages = ["native"] * (len(names) - 1) + ["boundary"]
    return [Passed(name, language, place, 0) for name, language in zip(names, languages, strict=True)]


def told(before: Sequence[BelowLine], after: Sequence[BelowLine]) -> list[str]:
    return [f"{_mark(each)}{each.depth} {each.function}" for each in divided(roads_of(before), roads_of(after))]


def _mark(branch: Branch) -> str:
    return " " if branch.is_shared else "-" if branch.before else "+"


def test_the_same_roads_are_no_difference_wherever_their_lines_are() -> None:
    assert told(below("main put P", "main run Q"), below("main run Q", "main put P", line=9)) == []


def test_the_numbers_of_lambdas_are_no_difference() -> None:
    assert told(below("f::$_14::operator() g{lambda#2} P"), below("f::$_15::operator() g{lambda#3} P")) == []


def test_where_an_unnamed_function_is_in_its_binary_is_no_difference() -> None:
    one, other = (
        [BelowLine(None, "P", tuple(_frames([f"a.so+0x{at} (unnamed function)", "P"], 1)), 1, 0, 0)] for at in "12"
    )

    assert told(one, other) == []


def test_a_frame_that_was_put_between_is_the_only_difference() -> None:
    assert told(below("main put copy P"), below("main put cached copy P")) == [" 0 main", " 1 put", "+2 cached"]


def test_a_frame_between_stands_before_all_that_it_leads_to() -> None:
    found = told(below("main put P", "main run Q"), below("main cached put P", "main cached run Q"))

    assert found == [" 0 main", "+1 cached"]


def test_frames_that_were_replaced_stand_one_after_the_other() -> None:
    assert told(below("main a b copy P"), below("main x copy P")) == [" 0 main", "-1 a", "-2 b", "+3 x"]


def test_roads_that_lead_elsewhere_are_shown_to_their_end() -> None:
    assert told(below("main put P"), below("main put P", "main run Q")) == [" 0 main", "+1 run", "+2 Q"]


def test_turned_around_what_came_is_what_went() -> None:
    dice = random.Random(7)
    for _ in range(300):
        sides = [below(*(_any_way(dice) for _ in range(dice.randrange(6)))) for _ in range(2)]
        ahead, back = (divided(*map(roads_of, each)) for each in (sides, sides[::-1]))
        only = [sorted((each.function, each.before) for each in found if not each.after) for found in (ahead, back)]
        gone = [sorted((each.function, each.after) for each in found if not each.before) for found in (ahead, back)]
        assert bool(ahead) == bool(back)
        if not sides[0] or not sides[1]:
            assert only == gone[::-1]
        assert told(sides[0], sides[0]) == []


def test_each_side_of_the_tree_is_made_of_its_own_frames() -> None:
    """Whatever two recordings have: the list is a tree, and no frame has more calls than its recording made."""
    dice = random.Random(11)
    for _ in range(300):
        sides = [below(*(_any_way(dice) for _ in range(dice.randrange(6)))) for _ in range(2)]
        found = divided(*map(roads_of, sides))
        names = [{frame.function for each in side for frame in each.way} for side in sides]
        for place, branch in enumerate(found):
            assert branch.depth == 0 or found[place - 1].depth >= branch.depth - 1
            assert not branch.before or branch.function in names[0]
            assert not branch.after or branch.function in names[1]
            assert max(branch.before - len(sides[0]), branch.after - len(sides[1])) <= 0
        assert [frame for run in runs(found) for frame in run.frames] == list(found)


def _any_way(dice: random.Random) -> str:
    return " ".join([*dice.choices("abcd", k=dice.randrange(1, 6)), dice.choice("PQ")])


def test_roads_that_are_very_long_and_wholly_different_are_compared() -> None:
    before = below(" ".join([*(f"a{number}" for number in range(400)), "P"]))
    after = below(" ".join([*(f"b{number}" for number in range(400)), "P"]))

    found = divided(roads_of(before), roads_of(after))

    assert len(found) == 800
    assert [run.mark for run in runs(found)] == ["-", "+"]


def test_runs_are_frames_without_a_fork_between() -> None:
    found = divided(roads_of(below("main put copy P")), roads_of(below("main put x P", "main put y Q")))

    assert [(run.mark, run.forks, [each.function for each in run.frames]) for run in runs(found)] == [
        (" ", 0, ["main", "put"]),
        ("-", 1, ["copy"]),
        ("+", 1, ["x"]),
        ("+", 1, ["y", "Q"]),
    ]
