"""The locations of captures: `.framedex/captures/` of a project's folder, or any folder given to `run -o`.

A capture's folder is removed in two steps: it is renamed, then deleted. Removal may stop after either step.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import CAPTURES, REMOVAL_SUFFIX
from framedex.base.nativepart import _native
from framedex.captures.metadata import read_metadata

MAX_LEVELS = 4
"""The number of folder levels to search for captures: enough from the parent of a folder with `.framedex/captures`."""

MAX_FOLDERS = 10_000
"""The maximum number of folders to search for captures: a search from the home folder must end soon."""


def project_captures_folder(project: Path) -> Path:
    """The folder of a project's captures."""
    return project / CAPTURES


def build_metadata_glob() -> str:
    """The glob pattern of capture metadata files, in any project below a folder."""
    return str(project_captures_folder(Path("**")) / "*" / _native.METADATA_FILE)


def capture_folders(captures: Path) -> list[Path]:
    """The captures in a folder of captures, oldest first (their names begin with their UTC start time).

    A folder without metadata is not a capture: its recording was stopped before it began. A capture that is being
    removed is skipped. An unreadable folder counts as a capture, and reading it reports the problem. Raises
    FramedexError if the folder cannot be listed.
    """
    try:
        folders = list(captures.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise FramedexError(
            f"The captures in {captures} cannot be listed: {error.strerror or error}.",
            "Check the permissions of that folder, or name captures: `framedex index DIR...`.",
        ) from error
    kept = (folder for folder in folders if not folder.name.endswith(REMOVAL_SUFFIX))
    return sorted(filter(_may_be_capture, kept), key=_folder_sort_key)


def find_captures_within(folder: Path) -> list[Path]:
    """The folder itself if it is a capture, else the captures in it, oldest first.

    Searches at most `MAX_LEVELS` levels. Does not follow links. A folder with a capture's streams but without metadata
    also counts: reading it reports the problem. Raises FramedexError if the folder contains no capture or cannot be
    listed.
    """
    if _may_be_capture(folder) or _has_streams(folder):
        return [folder]
    found: list[Path] = []
    below, left = iter(_list_folders(folder)), MAX_FOLDERS
    for _ in range(MAX_LEVELS):
        level = list(islice(below, left))
        left -= len(level)
        captures = {inner for inner in level if _may_be_capture(inner) or _has_streams(inner)}
        found += [inner for inner in level if inner in captures]
        below = _list_subfolders(inner for inner in level if inner not in captures)
    if not found:
        raise FramedexError(
            f"{folder} is not a capture and contains none: there is no {_native.METADATA_FILE} in it or up to"
            f" {MAX_LEVELS} levels below.",
            "Name a folder that framedex recorded into, for example one below .framedex/captures, or the DIR of"
            " `framedex run -o DIR SCRIPT`.",
        )
    return sorted(found, key=_folder_sort_key)


def _list_folders(folder: Path) -> list[Path]:
    """The folders in a folder, oldest capture first. Raises FramedexError if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            found = [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise FramedexError(
            f"{folder} cannot be listed: {error.strerror or error}.", "Check the permissions of that folder."
        ) from error
    return sorted(found, key=_folder_sort_key)


def _list_subfolders(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders in folders; skips folders that cannot be listed."""
    for folder in folders:
        with suppress(FramedexError):
            yield from _list_folders(folder)


def _has_streams(folder: Path) -> bool:
    try:
        return (folder / _native.PROCESS_STREAM).is_file()
    except OSError:
        return False


def find_captures_of_run(captures: Path, run_id: str) -> Iterator[Path]:
    """The captures of one `framedex run` in a folder of captures: those whose metadata contain `run_id`.

    Other runs may record into the same folder. Raises FramedexError like `capture_folders`.
    """
    for folder in capture_folders(captures):
        try:
            launch = read_metadata(folder).launch
        except FramedexError:
            continue
        if launch is not None and launch.run == run_id:
            yield folder


def _may_be_capture(folder: Path) -> bool:
    try:
        return stat.S_ISREG((folder / _native.METADATA_FILE).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _folder_sort_key(folder: Path) -> tuple[tuple[int, str], ...]:
    """The sort key of a name: its parts, with numbers by value. The tenth capture of one second follows the ninth."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in folder.name.split("-"))


_RENAMED_CAPTURE = re.compile(
    r"\d{8}-\d{6}-[\d-]+" + re.escape(REMOVAL_SUFFIX)
)  # as the recorder names captures, plus suffix


def removal_path(folder: Path) -> Path:
    """The new path of a capture's folder during removal."""
    return folder.with_name(folder.name + REMOVAL_SUFFIX)


def rename_for_removal(folder: Path) -> Path:
    """Rename a capture's folder for removal, unless already renamed; return the new path. Raises OSError."""
    if folder.name.endswith(REMOVAL_SUFFIX):
        return folder
    aside = removal_path(folder)
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside)
    return folder.rename(aside)


def undo_removal(renamed: Path) -> None:
    """Undo `rename_for_removal`. Ignores OSError."""
    with suppress(OSError):
        renamed.rename(renamed.with_name(renamed.name.removesuffix(REMOVAL_SUFFIX)))


def find_unfinished_removals(folder: Path) -> Iterator[Path]:
    """The captures that other processes renamed for removal, if named by the recorder and not links."""
    for aside in folder.glob(f"*{REMOVAL_SUFFIX}"):
        if _RENAMED_CAPTURE.fullmatch(aside.name) and aside.is_dir() and not aside.is_symlink():
            yield aside
