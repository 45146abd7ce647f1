"""How long calls took, in buckets: what totals tell of durations without a look at every call.

A duration below 128 ns is a bucket of its own. Above that a bucket holds the durations that are equal in their first
seven binary digits, so none is farther than 0.8 percent from the middle of its bucket.
"""

from __future__ import annotations

_EXACT = 7  # binary digits that tell one bucket from another
_STEPS = 1 << (_EXACT - 1)


def bucket_of(duration: int) -> int:
    """The bucket of a duration in nanoseconds."""
    shift = max(duration.bit_length() - _EXACT, 0)
    return duration if shift == 0 else shift * _STEPS + (duration >> shift)


def duration_of(bucket: int) -> int:
    """The middle of a bucket, in nanoseconds."""
    shift = max(bucket // _STEPS - 1, 0)
    if shift == 0:
        return bucket
    return ((bucket - shift * _STEPS) << shift) + ((1 << shift) - 1) // 2
