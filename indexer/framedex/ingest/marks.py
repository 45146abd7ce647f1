"""Which process follows a capture, as the index says it in place of the capture's signature."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

_MARK = re.compile(r"followed by process (\d+), begun at (\d+), since (\d+)")
_START_TIME = 19  # the place of the field in /proc/PID/stat, counted behind the name; see proc(5)


def mark_of_this_process() -> str:
    """A mark that no other process and no later one of this process has."""
    return f"followed by process {os.getpid()}, begun at {_begun(os.getpid())}, since {time.monotonic_ns()}"


def is_followed(reading: str | None) -> bool:
    """Whether what the index says of a capture is the mark of a process that is there."""
    found = _MARK.fullmatch(reading or "")
    return found is not None and _begun(int(found[1])) == int(found[2])


def _begun(process: int) -> int:
    """When a process began, in the kernel's ticks; -1 if it is not there."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        return int(stat.rpartition(")")[2].split()[_START_TIME])
    except (OSError, ValueError, IndexError):
        return -1
