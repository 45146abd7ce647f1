"""Why something is missing from a capture, and what to do about it: what the recorder noted in the streams' headers."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.problems import STOPPED_EARLY
from framedex.words import count
from framedex_native import _native

# The bits of `StopReason` in capture_format.h that leave something out, with what each means and its remedy.
_REASONS = {
    "disk_full": ("the disk was full", "Free some space, or record onto another disk (-o DIR)"),
    "limit": ("the limit for its size was reached", "Raise --limit, or keep the newest calls with --ring"),
    "no_file": (
        "a file could not be opened (too many open files, or its folder is gone or closed to the program)",
        "Raise the limit for open files (ulimit -n), and leave the folder of captures alone while the program runs",
    ),
}


@dataclass(frozen=True, slots=True)
class Stops:
    """Why a capture ends before its program did.

    `reasons` are names of reasons (`disk_full`). So many `threads` lack all calls from some moment on: `missing_calls`
    together, as far as they were counted. `lacks_threads`: there are other threads of which every call is missing.
    """

    reasons: tuple[str, ...] = ()
    threads: int = 0
    missing_calls: int = 0
    lacks_threads: bool = False

    @classmethod
    def of(cls, native: _native.Stops) -> Stops:
        """From what the native reader has found in the headers of streams."""
        bits = native["reasons"]
        return cls(
            tuple(name for name in _REASONS if bits & _native.STOP_REASONS[name]),
            native["threads"],
            native["missing_calls"],
            bool(bits & _native.STOP_REASONS["thread_missing"]),
        )

    def __bool__(self) -> bool:
        return bool(self.reasons) or self.lacks_threads

    def __or__(self, other: Stops) -> Stops:
        """Why two captures end early, and what they lack together."""
        return Stops(
            tuple(name for name in _REASONS if name in self.reasons or name in other.reasons),
            self.threads + other.threads,
            self.missing_calls + other.missing_calls,
            self.lacks_threads or other.lacks_threads,
        )

    @property
    def sentence(self) -> str:
        """What is missing, and why."""
        why = " and ".join(_REASONS[name][0] for name in self.reasons) or "no file could be made"
        missing = []
        if self.threads:
            calls = count(self.missing_calls, "later call") if self.missing_calls else "later calls"
            missing.append(f"{calls} of {count(self.threads, 'thread')}")
        if self.lacks_threads:
            missing.append(f"all calls of {'other' if missing else 'some'} threads")
        return f"{STOPPED_EARLY}: {why}. Missing: {' and '.join(missing) or 'names of functions and binaries'}."

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return ". ".join(_REASONS[name][1] for name in self.reasons) + ("." if self.reasons else "")
