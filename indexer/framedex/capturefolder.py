"""A capture's folder: whether it exists, its disk usage, and whether it is marked as kept.

This module is separate from `captures`, because code that lists captures does not need the capture readers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_KEPT = "kept"
"""The file that marks a capture as kept, with any content. Removal of captures by age or number skips a kept capture.
"""


@dataclass(frozen=True, slots=True)
class CaptureFolder:
    """The state of a capture's folder; `size` is its disk usage in bytes."""

    is_here: bool
    size: int = 0
    is_kept: bool = False


def folder_now(path: str) -> CaptureFolder:
    """The state of the folder at a path; a symbolic link or unreadable folder counts as missing."""
    try:
        if os.path.islink(path):  # noqa: PTH114 - a path of an index may have any bytes
            return CaptureFolder(is_here=False)
        with os.scandir(path) as entries:
            files = list(entries)
    except (OSError, ValueError):
        return CaptureFolder(is_here=False)
    return CaptureFolder(True, sum(map(_size, files)), any(file.name == _KEPT for file in files))


def mark_kept(path: Path, *, is_kept: bool) -> None:
    """Mark the capture in a folder as kept, or remove the mark. Raises OSError."""
    mark = path / _KEPT
    if is_kept:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)


def _size(entry: os.DirEntry[str], folders_below: int = 1) -> int:
    """The disk usage in bytes of an entry in a capture's folder. A subfolder (stored programs) includes its files."""
    size = 0
    with suppress(OSError):
        size += entry.stat(follow_symlinks=False).st_blocks * 512
        if folders_below and entry.is_dir(follow_symlinks=False):
            with os.scandir(entry) as entries:
                size += sum(_size(each, folders_below - 1) for each in entries)
    return size
