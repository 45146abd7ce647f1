"""Buckets of durations: exact for short ones, and within 0.8 percent everywhere."""

from __future__ import annotations

from framedex.index.file.values import convert_bucket_to_duration, convert_duration_to_bucket


def test_short_durations_are_exact() -> None:
    assert [convert_bucket_to_duration(convert_duration_to_bucket(duration)) for duration in range(128)] == list(
        range(128)
    )


def test_a_bucket_is_within_one_percent_of_its_durations() -> None:
    durations = [
        base + step for power in range(7, 50) for base in (1 << power,) for step in (0, 1, base // 3, base - 1)
    ]
    for duration in durations:
        assert abs(convert_bucket_to_duration(convert_duration_to_bucket(duration)) - duration) <= 0.008 * duration, (
            duration
        )


def test_buckets_are_ordered_and_without_gaps() -> None:
    buckets = [convert_duration_to_bucket(duration) for duration in range(1 << 14)]
    assert buckets == sorted(buckets)
    assert set(buckets) == set(range(buckets[-1] + 1))
