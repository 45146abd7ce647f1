"""The folders of a store: a day, and of all tables but that of captures a job, whatever somebody calls that."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from framedex.fleet.origin import Origin

_LONGEST = 128  # characters of a name; file systems take 255

_NAME_OF_PART = re.compile(r"day=\d{4}-\d\d-\d\d/job=[^/]+/[0-9a-f]{32}-[0-9a-f]{8}\.parquet")


def is_part(name: str) -> bool:
    """Whether a name can be that of the files of a capture below those of its tables."""
    return _NAME_OF_PART.fullmatch(name) is not None


def captures_in(day: str) -> str:
    """The folder of the captures that began on a day."""
    return f"captures/day={day}"


def part_of(origin: Origin) -> str:
    """The folder of a capture's files below those of their tables."""
    return f"day={origin.day}/job={job_name(origin.job)}"


def job_name(job: str) -> str:
    """A job as the name of a folder: `-` without one; of a long one the beginning, and a hash."""
    name = "%2D" if job == "-" else quote(job, safe="", errors="surrogateescape") or "-"
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 33]}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return name
