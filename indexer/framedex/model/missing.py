"""What a recording lacks: parts of a stack, and the calls after its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MergeOutcome(StrEnum):
    """Whether the native and the Python frames of a stack were merged, and why not."""

    MERGED = "merged"
    NO_HOST = "no-host"  # a run of Python frames whose interpreter frame is not on the native stack
    COUNT_MISMATCH = "count-mismatch"  # an interpreter frame that no run of Python frames accounts for
    HOST_MISMATCH = "host-mismatch"  # address and symbol name different interpreter frames
    NOT_TOLD = "not-told"  # of a truncated stack: recorders told no more of it before framedex kept the two apart
    MISSING = "missing"  # the stack itself: the capture is damaged
    UNKNOWN = "unknown"  # a code that this version does not know


class StopReason(StrEnum):
    """Why no more was recorded."""

    DISK_FULL = "disk-full"
    LIMIT = "limit"
    NO_FILE = "no-file"


@dataclass(frozen=True, slots=True)
class Stops:
    """Why a capture ends before its program did; false where it does not.

    `threads` is the number of threads that have calls missing from some moment on, `missing_calls` those of all of
    them, as far as they were counted. `lacks_threads`: of other threads every call is missing.
    """

    reasons: tuple[StopReason, ...] = ()
    threads: int = 0
    missing_calls: int = 0
    lacks_threads: bool = False

    def __bool__(self) -> bool:
        return bool(self.reasons) or self.lacks_threads

    def __or__(self, other: Stops) -> Stops:
        """What two captures lack together."""
        return Stops(
            tuple(reason for reason in StopReason if reason in self.reasons or reason in other.reasons),
            self.threads + other.threads,
            self.missing_calls + other.missing_calls,
            self.lacks_threads or other.lacks_threads,
        )
