"""Times that differ by more than noise."""

from __future__ import annotations

import pytest

from framedex.diff.noise import MeasuredTime, NoiseThresholds, summarize_times
from framedex.diff.recorded import TimeSums

MS = 1_000_000


def time(*each: int) -> MeasuredTime:
    """The time of this many calls, in ms."""
    return summarize_times([duration * MS for duration in each])


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        (time(*[2] * 40), time(*[5] * 40), True),
        (time(*[2] * 40), time(*[4] * 40), False),  # not more than twice the time
        (time(*[2] * 40), time(*[5] * 3), False),  # less than 10 ms in all
        (time(*[2] * 40), time(*[2] * 90), False),  # more calls, each as long as before
        (time(*[2] * 40), time(*[2] * 20, *[50] * 20), False),  # half of them were delayed
        (time(*[2] * 4), time(*[5] * 4), False),  # few
        (time(*[2] * 4), time(*[8] * 4), True),
        (time(20), time(120), False),  # measured once
        (time(20), time(200), True),
        (time(), time(12), False),
        (time(), time(50), True),
        (time(), time(), False),
    ],
)
def test_time_thresholds_grow_with_fewer_measurements(before: MeasuredTime, after: MeasuredTime, differs: bool) -> None:
    assert NoiseThresholds().is_exceeded(before, after) is NoiseThresholds().is_exceeded(after, before) is differs


def test_a_sum_is_as_precise_as_its_largest_part() -> None:
    spent = TimeSums()
    spent.add(100 * MS, 100, least=100 * MS, measured=100)
    assert spent.time.measurements == pytest.approx(100)
    spent.add(900 * MS, 1, least=900 * MS, measured=1)
    assert spent.time.measurements == pytest.approx(1.2, abs=0.1)
