"""The process that follows a capture, stored in place of the capture's signature."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

_MARK = re.compile(r"followed by process (\d+), begun at (\d+), since (\d+)")
_START_TIME = 19  # the index of the field in /proc/PID/stat, counted after the name; see proc(5)


def mark_of_this_process() -> str:
    """Return a unique mark of this process and this call."""
    return f"followed by process {os.getpid()}, begun at {_begun(os.getpid())}, since {time.monotonic_ns()}"


def is_followed(reading: str | None) -> bool:
    """Return whether the stored signature of a capture is the mark of a running process."""
    found = _MARK.fullmatch(reading or "")
    return found is not None and _begun(int(found[1])) == int(found[2])


def _begun(process: int) -> int:
    """Return the start time of a process, in the kernel's ticks; -1 if it is not running."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        return int(stat.rpartition(")")[2].split()[_START_TIME])
    except (OSError, ValueError, IndexError):
        return -1
