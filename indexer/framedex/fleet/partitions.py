"""The folders of a store: a day, and of all tables but that of captures a job, whatever somebody calls that."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from framedex.fleet.identities import id_of

if TYPE_CHECKING:
    from framedex.fleet.origin import Origin

_LONGEST = 128  # characters of a name; file systems take 255

_PART = re.compile(r"day=\d{4}-\d\d-\d\d/job=[^/]+/(?:([0-9a-f]{32})-[0-9a-f]{8}|[0-9a-f]{32})\.parquet")
_OWN = re.compile(r"(?:.*/)?([0-9a-f]{32})-[0-9a-f]{8}\.parquet")


def is_part(name: str, capture: str) -> bool:
    """Whether a name can be that of the files of a capture below those of its tables."""
    match = _PART.fullmatch(name)
    return match is not None and match[1] in (None, capture)


def owner_of(name: str) -> str | None:
    """The capture that a file was written for when that was added; None of one that several may have together."""
    match = _OWN.fullmatch(name)
    return match[1] if match else None


def own_name(origin: Origin, signature: str, generation: int) -> str:
    """The name of what is written for a capture in a state. Another state has another one, also after a drop."""
    state = id_of(signature, generation) if generation else id_of(signature)
    return f"{origin.capture}-{state[:8]}.parquet"


def captures_in(day: str) -> str:
    """The folder of the captures that began on a day."""
    return f"captures/day={day}"


def part_of(origin: Origin) -> str:
    """The folder of a capture's files below those of their tables."""
    return f"day={origin.day}/job={job_name(origin.job)}"


def job_name(job: str) -> str:
    """A job as the name of a folder: `-` without one; of a long one the beginning, and a hash.

    Two dots, which readers of addresses take for the folder above whatever stands around them, are left out likewise.
    """
    name = "%2D" if job == "-" else quote(job, safe="", errors="surrogateescape") or "-"
    if len(name) > _LONGEST or ".." in name:
        told = name[: _LONGEST - 33].replace("..", "")
        name = f"{told}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return name
