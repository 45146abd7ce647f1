"""Buckets of durations: exact where they are short, and within 0.8 percent everywhere."""

from __future__ import annotations

from framedex.index.file.durations import bucket_of, duration_of


def test_short_durations_are_exact() -> None:
    assert [duration_of(bucket_of(duration)) for duration in range(128)] == list(range(128))


def test_every_duration_is_within_a_hundredth_of_what_its_bucket_tells() -> None:
    durations = [
        base + step for power in range(7, 50) for base in (1 << power,) for step in (0, 1, base // 3, base - 1)
    ]
    for duration in durations:
        assert abs(duration_of(bucket_of(duration)) - duration) <= 0.008 * duration, duration


def test_buckets_are_in_the_order_of_durations_without_gaps() -> None:
    buckets = [bucket_of(duration) for duration in range(1 << 14)]
    assert buckets == sorted(buckets)
    assert set(buckets) == set(range(buckets[-1] + 1))
