"""Durations of calls in buckets, for totals without a scan of all calls.

A duration below 128 ns is a bucket of its own. Above that, a bucket has the durations with the same first seven binary
digits, so none is farther than 0.8 percent from its middle.
"""

from __future__ import annotations

_EXACT = 7  # significant binary digits of a bucket
_STEPS = 1 << (_EXACT - 1)


def bucket_of(duration: int) -> int:
    """Return the bucket of a duration in ns."""
    shift = max(duration.bit_length() - _EXACT, 0)
    return duration if shift == 0 else shift * _STEPS + (duration >> shift)


def duration_of(bucket: int) -> int:
    """Return the middle of a bucket in ns."""
    shift = max(bucket // _STEPS - 1, 0)
    if shift == 0:
        return bucket
    return ((bucket - shift * _STEPS) << shift) + ((1 << shift) - 1) // 2
