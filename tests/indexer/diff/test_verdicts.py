"""The verdicts on lines of a comparison, and the display order of lines."""

from __future__ import annotations

import pytest

from framedex.diff.model import (
    IN_THE_RUNTIME,
    MIN_BYTES,
    CostChange,
    CostTrend,
    DiffAspect,
    LineDiff,
    Quantity,
    classify_line,
    find_cost_change,
    sort_worst_first,
)
from framedex.diff.text import format_line_reasons, format_verdicts

MS = 1_000_000


def line(*quantities: Quantity, before: int = 0, after: int = 0) -> LineDiff:
    """A line with these differences, and its time in the runtime, in ms."""
    return LineDiff(None, None, quantities, (), duration_before=before * MS, duration_after=after * MS)


def time(before: int | None, after: int | None, name: str = IN_THE_RUNTIME) -> Quantity:
    """A time that differs by more than noise, in ms."""
    return Quantity(DiffAspect.TIMES, name, "", *(each and each * MS for each in (before, after)))


def compiles(before: int | None, after: int | None) -> Quantity:
    return Quantity(DiffAspect.COMPILES, "compiles", "step", before, after)


def moved(before: int, after: int) -> Quantity:
    return Quantity(DiffAspect.BYTES, "moved", "host to device", before, after)


CALLS = Quantity(DiffAspect.CALLS, "calls", "PJRT_Client_Compile", 3, 4)


@pytest.mark.parametrize(
    ("judged", "verdict"),
    [
        (line(time(20, 80)), CostTrend.WORSE),
        (line(time(80, None)), CostTrend.BETTER),
        (line(time(20, 30), time(200, 10, "waiting")), CostTrend.BETTER),  # the larger change of the two
        (line(compiles(1, 4), time(80, 20)), CostTrend.BETTER),  # a time beyond noise decides
        (line(compiles(1, 4), before=80, after=20), CostTrend.WORSE),  # a time within noise does not
        (line(compiles(None, 1)), CostTrend.WORSE),
        (line(moved(0, MIN_BYTES)), CostTrend.WORSE),
        (line(moved(64, 32)), CostTrend.OTHER),
        (line(Quantity(DiffAspect.COMPILES, "loads from a cache", "step", 1, 4)), CostTrend.OTHER),
        (line(CALLS, before=10, after=20), CostTrend.OTHER),
    ],
)
def test_a_line_is_judged_by_time_then_compilations_then_bytes(judged: LineDiff, verdict: CostTrend) -> None:
    assert classify_line(judged) is verdict


def test_the_largest_regression_comes_first() -> None:
    little, much, compiled = line(time(20, 60)), line(time(20, 900)), line(compiles(1, 2), before=20, after=25)
    better, best, other = line(time(60, 20)), line(time(900, 20)), line(CALLS)

    shown = sort_worst_first([other, better, compiled, little, best, much])

    assert [each for _, each in shown] == [much, little, compiled, best, better, other]
    assert format_verdicts([verdict for verdict, _ in shown], 7) == (
        "3 lines got worse, 2 lines got better, 1 line changed without a cost, 7 lines unchanged."
    )


def test_the_cost_is_the_time_with_the_largest_change() -> None:
    waits = time(20, 900, "waiting")
    assert find_cost_change(line(waits, before=10, after=30)) == CostChange("waiting", 20 * MS, 900 * MS)
    assert find_cost_change(line(waits, before=10, after=2_000)) == CostChange(IN_THE_RUNTIME, 10 * MS, 2_000 * MS)


def test_the_reason_comes_before_its_figures() -> None:
    worse = LineDiff(None, None, (CALLS, moved(4, 8), time(20, 60), compiles(1, 2)), (), ("the shape of x differs",))
    assert format_line_reasons(worse) == [
        "the shape of x differs",
        "compiles step 1 -> 2",
        "moved host to device 4 B -> 8 B",
        "calls PJRT_Client_Compile 3 -> 4",
    ]
