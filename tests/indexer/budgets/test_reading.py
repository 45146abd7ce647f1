"""How budgets are written."""

from __future__ import annotations

import pytest

from framedex.budgets.model import (
    Budget,
    BudgetSubject,
    Pattern,
    parse_budget,
    parse_count_budgets,
    parse_memory_budget,
)
from framedex.words import parse_byte_count

COMPILES = BudgetSubject.COMPILES


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
    assert [(each.limit, each.pattern.text) for each in parse_count_budgets(COMPILES, written)] == budgets


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (True, "True is not a number"),
        (-1, "is negative"),
        ("train.py:*", r"add the limit, such as 'train.py:\*=1'"),
        ("train.py:*=", r"'train.py:\*=1'"),
        ("=3", "no pattern before its '='"),
        ("step=-1", "has no number"),
        ("step=1.5", "has no number"),
        ("step=²", "has no number"),
        ("", "has no number"),
        (1.5, "not a budget"),
        ({"step": True}, "has no number"),
        (None, "not a budget"),
    ],
)
def test_what_is_no_count_is_said(written: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse_count_budgets(COMPILES, written)


def test_sizes_are_as_everywhere() -> None:
    assert parse_memory_budget("2GiB").limit == parse_memory_budget(2 << 30).limit == 2 << 30
    assert parse_memory_budget("2GiB").text == "2 GiB"
    for wrong in ("2 bananas", "", "-1", True, -5, 1.5j, "9" * 400, "9" * 400 + "GiB", "1." + "9" * 5000, 10**400):
        with pytest.raises(ValueError, match="not a number of bytes"):
            parse_memory_budget(wrong)


def test_a_size_is_a_number_with_a_unit() -> None:
    assert [parse_byte_count(each) for each in ("1048576", "1.5kb", " 512MiB ", "16g", "0", "x", "1 XB")] == [
        *(1048576, 1500, 512 << 20, 16 * 10**9),
        *(None, None, None),
    ]


def test_a_budget_keeps_what_was_written() -> None:
    assert parse_budget(COMPILES, "step=2") == Budget(COMPILES, 2, Pattern.parse("step"), "step=2")
