"""How budgets are written."""

from __future__ import annotations

import pytest

from framedex.budgets.model import Budget, Subject
from framedex.budgets.patterns import Pattern
from framedex.budgets.reading import budget_of_memory, budget_of_text, budgets_of
from framedex.sizes import bytes_of

COMPILES = Subject.COMPILES


@pytest.mark.parametrize(
    ("written", "budgets"),
    [
        (1, [(1, "*")]),
        (0, [(0, "*")]),
        ("3", [(3, "*")]),
        ("train.py:*=1", [(1, "train.py:*")]),
        ("a=b.py:step=2", [(2, "a=b.py:step")]),
        ({"train.py:*": 1, "step": 2}, [(1, "train.py:*"), (2, "step")]),
        (["1", "step=2", 5], [(1, "*"), (2, "step"), (5, "*")]),
    ],
)
def test_counts_are_numbers_texts_tables_and_lists(written: object, budgets: list[tuple[int, str]]) -> None:
    assert [(each.most, each.pattern.text) for each in budgets_of(COMPILES, written)] == budgets


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (True, "True is no number"),
        (-1, "less than nothing"),
        ("train.py:*", r"write how many are allowed, 'train.py:\*=1'"),
        ("train.py:*=", r"'train.py:\*=1'"),
        ("=3", "nothing before its '='"),
        ("step=-1", "has no number"),
        ("step=1.5", "has no number"),
        ("step=²", "has no number"),
        ("", "has no number"),
        (1.5, "no budget"),
        ({"step": True}, "has no number"),
        (None, "no budget"),
    ],
)
def test_what_is_no_count_is_said(written: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        budgets_of(COMPILES, written)


def test_sizes_are_as_everywhere() -> None:
    assert budget_of_memory("2GiB").most == budget_of_memory(2 << 30).most == 2 << 30
    assert budget_of_memory("2GiB").text == "2 GiB"
    for wrong in ("2 bananas", "", "-1", True, -5, 1.5j, "9" * 400, "9" * 400 + "GiB", "1." + "9" * 5000, 10**400):
        with pytest.raises(ValueError, match="not a number of bytes"):
            budget_of_memory(wrong)


def test_a_size_is_a_number_with_a_unit() -> None:
    assert [bytes_of(each) for each in ("1048576", "1.5kb", " 512MiB ", "16g", "0", "x", "1 XB")] == [
        *(1048576, 1500, 512 << 20, 16 * 10**9),
        *(None, None, None),
    ]


def test_a_budget_keeps_what_was_written() -> None:
    assert budget_of_text(COMPILES, "step=2") == Budget(COMPILES, 2, Pattern.parse("step"), "step=2")
