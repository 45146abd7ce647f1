"""The syntax of budgets."""

from __future__ import annotations

import pytest

from framedex.base.words import parse_byte_count
from framedex.budgets.model import (
    Budget,
    BudgetSubject,
    Pattern,
    parse_budget,
    parse_count_budgets,
    parse_memory_budget,
    parse_startup_budget,
)

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
def test_counts_are_integers_strings_tables_or_lists(written: object, budgets: list[tuple[int, str]]) -> None:
    assert [(each.limit, each.pattern.text) for each in parse_count_budgets(COMPILES, written)] == budgets


@pytest.mark.parametrize(
    ("written", "expected"),
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
def test_a_malformed_count_is_reported(written: object, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_count_budgets(COMPILES, written)


def test_sizes_use_the_common_format() -> None:
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


def test_a_budget_stores_its_text() -> None:
    assert parse_budget(COMPILES, "step=2") == Budget(COMPILES, 2, Pattern.parse("step"), "step=2")


def test_a_startup_budget_has_seconds() -> None:
    assert parse_startup_budget({"trace_seconds": 1.5}).limit == 1_500_000_000
    assert parse_startup_budget({"trace-seconds": 2}).text == "2 s"


@pytest.mark.parametrize(
    "written", [3, {}, {"trace_seconds": True}, {"trace_seconds": -1}, {"trace_seconds": "3"}, {"seconds": 3}]
)
def test_a_malformed_startup_budget_is_reported(written: object) -> None:
    with pytest.raises(ValueError, match=r"write startup\.trace_seconds = 10"):
        parse_startup_budget(written)
