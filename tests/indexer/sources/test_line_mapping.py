"""Mapping lines of an old text to a new one."""

import random
from collections.abc import Iterable

import pytest

from framedex.sources.line_maps import MovedLine, map_lines
from tests.timing import seconds_of


def text(*lines: str) -> str:
    return "\n".join(lines)


def test_lines_below_an_insertion_move_down_and_back() -> None:
    moved = map_lines(text("a", "b", "c"), text("a", "new", "b", "c"))

    assert [moved.map_to_new(line) for line in (1, 2, 3)] == [
        MovedLine(1, False),
        MovedLine(3, False),
        MovedLine(4, False),
    ]
    assert moved.map_to_old(4) == MovedLine(3, False)
    assert moved.map_to_old(2).is_gone


def test_a_changed_line_is_gone_and_its_nearest_line_replaces_it() -> None:
    moved = map_lines(text("a", "b = 1", "c"), text("a", "b = 2", "c"))

    assert moved.map_to_new(2) == MovedLine(2, is_gone=True)
    assert moved.map_to_new(3) == MovedLine(3, is_gone=False)


def test_the_nearest_line_of_removed_lines_is_the_next_one() -> None:
    assert map_lines(text("a", "b", "c", "d"), text("a", "d")).map_to_new(3) == MovedLine(2, is_gone=True)


def test_mapped_lines_never_exceed_the_text() -> None:
    assert map_lines(text("a", "b"), text("a")).map_to_new(2) == MovedLine(1, is_gone=True)
    assert map_lines(text("a", "b"), "").map_to_new(2) == MovedLine(1, is_gone=True)


def test_line_endings_do_not_matter() -> None:
    assert map_lines("a\r\nb\r\n", "new\na\nb\n").map_to_new(2) == MovedLine(3, is_gone=False)


def test_indentation_does_not_matter() -> None:
    moved = map_lines("for x in y:\n    f(x)\n", "if z:\n    for x in y:\n        f(x)\n")
    assert [moved.new_line(line) for line in (1, 2)] == [2, 3]


def test_a_moved_line_is_followed_if_unique_in_both_texts() -> None:
    moved = map_lines("first = f()\nsecond = g()\nthird = h()\n", "third = h()\nfirst = f()\nsecond = g()\n")
    assert [moved.new_line(line) for line in (1, 2, 3)] == [2, 3, 1]
    assert [moved.old_line(line) for line in (1, 2, 3)] == [3, 1, 2]


@pytest.mark.parametrize("order", ["ba", "bca", "cab", "cba"])
@pytest.mark.parametrize("indent", ["", "    "])
def test_swapped_functions_keep_their_equal_lines(order: str, indent: str) -> None:
    def source(names: Iterable[str]) -> list[str]:
        lines = [line for name in names for line in (f"def {name}(value):", "    x = put(value)", "    return x", "")]
        return ["class Puts:", *(indent + line for line in lines)]

    old, new = source(sorted(order)), source(order)
    moved = map_lines(text(*old), text(*new))
    for name in order:
        line, now = (lines.index(f"{indent}def {name}(value):") + 1 for lines in (old, new))
        assert [moved.new_line(line + offset) for offset in range(3)] == [now, now + 1, now + 2]
        assert [moved.old_line(now + offset) for offset in range(3)] == [line, line + 1, line + 2]


@pytest.mark.exhaustive(keep=["0", "1", "2"])
@pytest.mark.parametrize("seed", range(60))
def test_surviving_lines_are_equal_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    words = [str(chance.randrange(1 + seed % 9 * 20)) for _ in range(chance.randrange(1, 200))]
    changed = [word for word in words if chance.random() < 0.8]
    for _ in range(chance.randrange(30)):
        changed.insert(chance.randrange(len(changed) + 1), chance.choice([*words, "new"]))
    old, new = text(*words).split("\n"), text(*changed).split("\n")

    moved = map_lines(text(*words), text(*changed))

    last = 0
    for line in range(1, len(old) + 1):
        there = moved.map_to_new(line)
        assert 1 <= there.line <= len(new)
        if not there.is_gone:
            assert old[line - 1] == new[there.line - 1] and there.line > last
            assert moved.map_to_old(there.line) == MovedLine(line, is_gone=False)
            last = there.line


@pytest.mark.exhaustive
def test_a_file_of_20_000_lines_is_mapped_quickly() -> None:
    chance = random.Random(1)
    old = [f"  call_{chance.randrange(4000)}({number % 7});" for number in range(20_000)]
    new = list(old)
    for _ in range(300):
        new.insert(chance.randrange(len(new)), "  another();")
        del new[chance.randrange(len(new))]

    assert seconds_of(lambda: map_lines(text(*old), text(*new))) < 2
    moved = map_lines(text(*old), text(*new))
    assert sum(not moved.map_to_new(line).is_gone for line in range(1, 20_001)) > 19_000
