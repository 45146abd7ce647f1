"""Removing captures: their folders on the disk, and what the index has of them.

Whoever is interrupted leaves captures whole, or an index that lists them as gone; doing the same again removes the
rest.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.capturefolder import folder_now
from framedex.captures import capture_state, is_over
from framedex.captures.removal import aside_of, left_aside, put_aside, put_back
from framedex.errors import FramedexError
from framedex.index import Store
from framedex.index.write.records import KnownCapture
from framedex.ingest.marks import is_followed
from framedex.systemlimits import SystemLimitError


@dataclass(frozen=True, slots=True)
class Removed:
    """How many folders were removed, and what is free now: bytes of the disk, and of the index, which others fill."""

    folders: int
    on_disk: int
    in_index: int


def remove_captures(store: Store, ids: Collection[int]) -> Removed:
    """Remove captures by their ids; a folder that is no capture any more, or another one, is left.

    Raises FramedexError, and nothing is removed, where one is still being recorded or read, or cannot be removed.
    """
    captures = [capture for capture in store.remembered()[1] if capture.id in ids]
    folders = list(_folders(captures))
    freed = sum(folder_now(str(folder)).size for folder in folders)
    aside: list[Path] = []
    try:
        for folder in folders:
            aside.append(put_aside(folder))
        with store.transaction():
            in_index = store.remove_captures(ids)
    except BaseException as error:
        for each in aside:
            put_back(each)
        if isinstance(error, OSError):
            raise _unremovable(error) from error
        raise
    try:
        for each in dict.fromkeys(aside):
            shutil.rmtree(each)
        # What the index still has, another process is removing, and may put back.
        known = {aside_of(capture.path) for capture in store.remembered()[1]}
        for parent in dict.fromkeys(capture.path.parent for capture in captures):
            for each in left_aside(parent):
                if each not in known:
                    shutil.rmtree(each)
    except OSError as error:
        raise _unremovable(error) from error
    return Removed(len(folders), freed, in_index)


def _folders(captures: Sequence[KnownCapture]) -> Iterator[Path]:
    """The folders of the captures that are still there. Raises FramedexError where one is not to be removed now."""
    for capture in captures:
        if is_followed(capture.reading):
            raise FramedexError(
                f"Capture {capture.id} is being read into the index as it is recorded.", "Stop it first."
            )
        for folder in (capture.path, aside_of(capture.path)):  # an interrupted removal leaves the second
            if _is_of(capture, folder):
                if not is_over(folder):
                    raise FramedexError(
                        f"Capture {capture.id} is still being recorded.", "Remove it when its program has ended."
                    )
                yield folder


def _is_of(capture: KnownCapture, folder: Path) -> bool:
    """Whether a folder, and no link to one, is that capture."""
    if not folder_now(str(folder)).is_here:
        return False
    try:
        return capture_state(folder).identity == capture.identity
    except SystemLimitError:
        raise
    except FramedexError:
        return False


def _unremovable(error: OSError) -> FramedexError:
    return FramedexError(
        f"{error.filename} cannot be removed: {error.strerror or error}.",
        "Check the permissions of that folder, then run the command again.",
    )
