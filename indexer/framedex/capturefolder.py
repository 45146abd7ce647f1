"""A capture's folder beside what it records: whether it is here, how much of the disk it takes, whether it is kept.

Apart from the package that reads captures, as those who list them need nothing of what is in them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_KEPT = "kept"
"""The file that marks a capture, whatever is in it: what removes captures by their age or number leaves that one."""


@dataclass(frozen=True, slots=True)
class CaptureFolder:
    """The folder of a capture as it is now; `size` in bytes of the disk."""

    is_here: bool
    size: int = 0
    is_kept: bool = False


def folder_now(path: str) -> CaptureFolder:
    """The state of the folder at a path; one that is a link, or cannot be looked into, is not here."""
    try:
        if os.path.islink(path):  # noqa: PTH114 - a path of an index may have any bytes
            return CaptureFolder(is_here=False)
        with os.scandir(path) as entries:
            files = list(entries)
    except (OSError, ValueError):
        return CaptureFolder(is_here=False)
    return CaptureFolder(True, sum(map(_size, files)), any(file.name == _KEPT for file in files))


def mark_kept(path: Path, *, is_kept: bool) -> None:
    """Mark the capture in a folder as one to be kept, or take that back. Raises OSError."""
    mark = path / _KEPT
    if is_kept:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)


def _size(entry: os.DirEntry[str], folders_below: int = 1) -> int:
    """What an entry of a capture's folder takes, in bytes; of a folder (the programs that are kept) with its files."""
    size = 0
    with suppress(OSError):
        size += entry.stat(follow_symlinks=False).st_blocks * 512
        if folders_below and entry.is_dir(follow_symlinks=False):
            with os.scandir(entry) as entries:
                size += sum(_size(each, folders_below - 1) for each in entries)
    return size
