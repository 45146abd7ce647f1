"""Missing parts of a recording: parts of a stack, and the calls after its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MergeOutcome(StrEnum):
    """The result of merging the native and Python frames of a stack."""

    MERGED = "merged"
    NO_HOST = "no-host"  # a run of Python frames whose interpreter frame is not on the native stack
    COUNT_MISMATCH = "count-mismatch"  # an interpreter frame without a matching run of Python frames
    HOST_MISMATCH = "host-mismatch"  # address and symbol identify different interpreter frames
    NOT_TOLD = "not-told"  # a truncated stack from an earlier recorder, which did not record the outcome
    MISSING = "missing"  # the stack itself: the capture is damaged
    UNKNOWN = "unknown"  # an unsupported code


class StopReason(StrEnum):
    """The reason why recording stopped."""

    DISK_FULL = "disk-full"
    LIMIT = "limit"
    NO_FILE = "no-file"


@dataclass(frozen=True, slots=True)
class Stops:
    """The reasons why a capture ends before its program; false if it is complete.

    `threads` is the number of threads whose calls are missing after some moment. `missing_calls` is the number of those
    calls, if counted. `lacks_threads`: other threads are missing entirely.
    """

    reasons: tuple[StopReason, ...] = ()
    threads: int = 0
    missing_calls: int = 0
    lacks_threads: bool = False

    def __bool__(self) -> bool:
        return bool(self.reasons) or self.lacks_threads

    def __or__(self, other: Stops) -> Stops:
        """Combine the stops of two captures."""
        return Stops(
            tuple(reason for reason in StopReason if reason in self.reasons or reason in other.reasons),
            self.threads + other.threads,
            self.missing_calls + other.missing_calls,
            self.lacks_threads or other.lacks_threads,
        )
