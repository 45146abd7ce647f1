"""Remove captures: their folders on disk, and their data in the index.

An interruption leaves captures complete, or an index that lists them as gone. Removing them again removes the rest.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError, SystemLimitError
from framedex.base.folders import read_capture_folder
from framedex.captures import is_complete, read_capture_state
from framedex.captures.folders import find_unfinished_removals, removal_path, rename_for_removal, undo_removal
from framedex.index import Store
from framedex.index.write.records import KnownCapture
from framedex.ingest.captures import is_followed


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """The number of removed folders, and the freed bytes: on disk, and inside the index, which reuses them."""

    folders: int
    on_disk: int
    in_index: int


def remove_captures(store: Store, ids: Collection[int]) -> RemovalResult:
    """Remove captures by their ids; a folder that now contains another capture stays.

    Raises FramedexError, and removes nothing, if a capture is still being recorded or read, or cannot be removed.
    """
    captures = [capture for capture in store.read_roots_and_captures()[1] if capture.id in ids]
    folders = list(_find_removable_folders(captures))
    freed = sum(read_capture_folder(str(folder)).size for folder in folders)
    aside: list[Path] = []
    try:
        for folder in folders:
            aside.append(rename_for_removal(folder))
        with store.transaction():
            in_index = store.remove_captures(ids)
    except BaseException as error:
        for each in aside:
            undo_removal(each)
        if isinstance(error, OSError):
            raise _removal_error(error) from error
        raise
    try:
        for each in dict.fromkeys(aside):
            shutil.rmtree(each)
        # Another process is removing the folders of captures still in the index, and may restore them.
        known = {removal_path(capture.path) for capture in store.read_roots_and_captures()[1]}
        for parent in dict.fromkeys(capture.path.parent for capture in captures):
            for each in find_unfinished_removals(parent):
                if each not in known:
                    shutil.rmtree(each)
    except OSError as error:
        raise _removal_error(error) from error
    return RemovalResult(len(folders), freed, in_index)


def remove_unindexed(folders: Sequence[Path]) -> int:
    """Remove captures that are not indexed; return the freed bytes.

    Raises FramedexError, and removes nothing, if a capture is still being recorded.
    """
    for folder in folders:
        if not is_complete(folder):
            raise FramedexError(
                f"Capture {folder.name} is still being recorded.", "Remove it when its program has ended."
            )
    freed = sum(read_capture_folder(str(folder)).size for folder in folders)
    try:
        for folder in folders:
            shutil.rmtree(rename_for_removal(folder))
    except OSError as error:
        raise _removal_error(error) from error
    return freed


def _find_removable_folders(captures: Sequence[KnownCapture]) -> Iterator[Path]:
    """Yield the existing folders of the captures. Raises FramedexError if one cannot be removed now."""
    for capture in captures:
        if is_followed(capture.unfinished_signature):
            raise FramedexError(
                f"Capture {capture.id} is being read into the index as it is recorded.", "Stop it first."
            )
        for folder in (capture.path, removal_path(capture.path)):  # an interrupted removal leaves the renamed folder
            if _is_capture(capture, folder):
                if not is_complete(folder):
                    raise FramedexError(
                        f"Capture {capture.id} is still being recorded.", "Remove it when its program has ended."
                    )
                yield folder


def _is_capture(capture: KnownCapture, folder: Path) -> bool:
    """Return whether a folder, not a link to one, is this capture."""
    if not read_capture_folder(str(folder)).is_here:
        return False
    try:
        return read_capture_state(folder).identity == capture.identity
    except SystemLimitError:
        raise
    except FramedexError:
        return False


def _removal_error(error: OSError) -> FramedexError:
    return FramedexError(
        f"{error.filename} cannot be removed: {error.strerror or error}.",
        "Check the permissions of that folder, then run the command again.",
    )
