"""Where captures live: `.framedex/captures/` of a project's folder, and wherever else `run -o` was told."""

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
"""The end of the name of a capture's folder that is being removed."""

MOST_LEVELS = 4
"""Levels of folders that are looked into for captures: a folder that holds `.framedex/captures`, and one above."""

MOST_FOLDERS = 10_000
"""Folders that are looked into for captures: whoever names his home folder is not to wait for all of it."""


def captures_below(project: Path) -> Path:
    """The folder that holds a project's captures."""
    return project / ".framedex" / "captures"


def captures_pattern() -> str:
    """The pattern of the file that makes a folder a capture, in any project below a folder."""
    return str(captures_below(Path("**")) / "*" / _native.METADATA_FILE)


def capture_folders(captures: Path) -> list[Path]:
    """The captures in a folder of captures, oldest first (their names begin with the UTC time they began).

    A folder without metadata is no capture: its recording was stopped before it began. Nor is one that is being
    removed. One that cannot be looked into may be a capture; reading it says what is wrong. Raises FramedexError where
    the folders cannot be listed.
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
    """The capture that a folder is, or else those in it, at most `MOST_LEVELS` below: oldest first in each folder.

    Links are not followed. What has the streams of a capture without its metadata counts too: reading it says what is
    wrong. Raises FramedexError where the folder holds none, or cannot be listed.
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
    """The folders in a folder, oldest capture first. Raises FramedexError where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            found = [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise FramedexError(
            f"{folder} cannot be listed: {error.strerror or error}.", "Check the permissions of that folder."
        ) from error
    return sorted(found, key=_order)


def _folders_below(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders in folders, of those that can be listed."""
    for folder in folders:
        with suppress(FramedexError):
            yield from _folders_in(folder)


def _has_streams(folder: Path) -> bool:
    try:
        return (folder / _native.PROCESS_STREAM).is_file()
    except OSError:
        return False


def captures_of_run(captures: Path, run_id: str) -> Iterator[Path]:
    """The captures in a folder of captures that one `framedex run` made: the one that wrote `run_id` into them.

    Others may be recording into that folder too. Raises FramedexError as `capture_folders` does.
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
    """What names are sorted by: their parts, numbers by value. So the tenth capture of a second follows the ninth."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in folder.name.split("-"))
