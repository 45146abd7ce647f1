"""The locations of captures: `.framedex/captures/` of a project's folder, or any folder given to `run -o`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from framedex.captures.metadata import read_metadata
from framedex.errors import FramedexError
from framedex.nativepart import _native

ASIDE = ".removed"
"""The suffix of a capture's folder during removal."""

MOST_LEVELS = 4
"""Levels of folders to search for captures: a folder that contains `.framedex/captures`, and one above."""

MOST_FOLDERS = 10_000
"""The maximum number of folders to search for captures: a search from the home folder must end soon."""


def captures_below(project: Path) -> Path:
    """The folder of a project's captures."""
    return project / ".framedex" / "captures"


def captures_pattern() -> str:
    """The glob pattern of capture metadata files, in any project below a folder."""
    return str(captures_below(Path("**")) / "*" / _native.METADATA_FILE)


def capture_folders(captures: Path) -> list[Path]:
    """The captures in a folder of captures, oldest first (their names begin with their UTC start time).

    A folder without metadata is not a capture: its recording was stopped before it began. A capture in removal is
    skipped. An unreadable folder counts as a capture, and reading it reports the problem. Raises FramedexError if the
    folder cannot be listed.
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
    kept = (folder for folder in folders if not folder.name.endswith(ASIDE))
    return sorted(filter(_may_be_capture, kept), key=_order)


def captures_within(folder: Path) -> list[Path]:
    """The folder itself if it is a capture, else the captures in it, oldest first per folder.

    Searches at most `MOST_LEVELS` levels. Does not follow links. A folder with a capture's streams but without metadata
    also counts: reading it reports the problem. Raises FramedexError if the folder contains no capture or cannot be
    listed.
    """
    if _may_be_capture(folder) or _has_streams(folder):
        return [folder]
    found: list[Path] = []
    below, left = iter(_folders_in(folder)), MOST_FOLDERS
    for _ in range(MOST_LEVELS):
        level = list(islice(below, left))
        left -= len(level)
        captures = {inner for inner in level if _may_be_capture(inner) or _has_streams(inner)}
        found += [inner for inner in level if inner in captures]
        below = _folders_below(inner for inner in level if inner not in captures)
    if not found:
        raise FramedexError(
            f"{folder} is not a capture and contains none: there is no {_native.METADATA_FILE} in it or up to"
            f" {MOST_LEVELS} levels below.",
            "Name a folder that framedex recorded into, for example one below .framedex/captures, or the DIR of"
            " `framedex run -o DIR SCRIPT`.",
        )
    return found


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, oldest capture first. Raises FramedexError if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            found = [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise FramedexError(
            f"{folder} cannot be listed: {error.strerror or error}.", "Check the permissions of that folder."
        ) from error
    return sorted(found, key=_order)


def _folders_below(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders in folders; skips folders that cannot be listed."""
    for folder in folders:
        with suppress(FramedexError):
            yield from _folders_in(folder)


def _has_streams(folder: Path) -> bool:
    try:
        return (folder / _native.PROCESS_STREAM).is_file()
    except OSError:
        return False


def captures_of_run(captures: Path, run_id: str) -> Iterator[Path]:
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


def _order(folder: Path) -> tuple[tuple[int, str], ...]:
    """The sort key of a name: its parts, with numbers by value. So the tenth capture of a second follows the ninth."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in folder.name.split("-"))
