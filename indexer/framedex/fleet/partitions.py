"""The folders and file names of a store. Tables are partitioned by day and, except `captures`, by job."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from framedex.fleet.identities import hash_values

if TYPE_CHECKING:
    from framedex.fleet.origin import Origin

_MAX_NAME_CHARACTERS = 128  # characters of a name; file systems take 255

_PART = re.compile(r"day=\d{4}-\d\d-\d\d/job=[^/]+/(?:([0-9a-f]{32})-[0-9a-f]{8}|[0-9a-f]{32})\.parquet")
_PART_FILE = re.compile(r"(?:.*/)?([0-9a-f]{32})-[0-9a-f]{8}\.parquet")


def is_part_name(name: str, capture: str) -> bool:
    """Return whether a name, below the tables' folders, can be a part with this capture."""
    match = _PART.fullmatch(name)
    return match is not None and match[1] in (None, capture)


def find_file_owner(name: str) -> str | None:
    """Return the capture that a file belongs to; None for a shared file."""
    match = _PART_FILE.fullmatch(name)
    return match[1] if match else None


def own_file_name(origin: Origin, signature: str, generation: int) -> str:
    """Return the file name for one state of a capture. The name changes with the state, and after a drop."""
    state = hash_values(signature, generation) if generation else hash_values(signature)
    return f"{origin.capture}-{state[:8]}.parquet"


def build_captures_folder(day: str) -> str:
    """Return the folder of the captures that began on a day."""
    return f"captures/day={day}"


def partition_folder(origin: Origin) -> str:
    """Return the folder of a capture's files, below the tables' folders."""
    return f"day={origin.day}/job={build_job_folder_name(origin.job)}"


def build_job_folder_name(job: str) -> str:
    """Return the folder name of a job: `-` without a job, a prefix and a hash for a long name.

    Names with two dots get a hash as well, without the dots: some libraries read them as the parent folder.
    """
    name = "%2D" if job == "-" else quote(job, safe="", errors="surrogateescape") or "-"
    if len(name) > _MAX_NAME_CHARACTERS or ".." in name:
        prefix = name[: _MAX_NAME_CHARACTERS - 33].replace("..", "")
        name = f"{prefix}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return name
