"""Bring the index up to date before a question: add the project's new captures, if that is quick.

A question without new captures pays only for listing folders and for the modification times of the latest captures.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.inputs.files import absolute, working_folder
from framedex.commands.output.console import note
from framedex.errors import FramedexError
from framedex.folders import CAPTURES, REMOVAL_SUFFIX, read_capture_folder
from framedex.plaintext import shell_word

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CaptureRow
    from framedex.settings import Settings

INDEX_FOLDER = ".framedex"

MAX_SIZE_BYTES = 32 << 20
"""The most captured data, on the disk, that a question indexes first. Usual recordings have some MiB."""

_LOCK_TIMEOUT_S = 0.5  # another process that writes the index is adding captures already
_MAX_GROWING = 3  # the latest indexed captures, whose programs may still run


def list_project_captures(index_path: Path) -> list[Path]:
    """The captures of the index's project and of the working folder, in which `framedex run` records.

    Raises FramedexError if a folder cannot be listed.
    """
    from framedex.captures import capture_folders

    folders = dict.fromkeys(project / CAPTURES for project in (project_folder(index_path), working_folder()))
    return [capture for folder in folders for capture in capture_folders(folder)]


def project_folder(index_path: Path) -> Path:
    """The project of an index: that of PROJECT/.framedex/index.db, otherwise the working folder."""
    folder = absolute(index_path).parent
    return folder.parent if folder.name == INDEX_FOLDER else working_folder()


def find_new_captures(index: Index, folders: Iterable[Path]) -> list[Path]:
    """The captures in folders of captures that the index lacks, and those of the latest that have grown.

    Unreadable captures are skipped. Reading a capture's state imports much, so it is read only if the folder's name is
    new, or if a file is newer than the index.
    """
    recorded = index.captures()
    known = {capture.path for capture in recorded}
    latest = {capture.path for capture in sorted(recorded, key=_start_time)[-_MAX_GROWING:]}
    indexed_at = max(map(_modification_time, (index.path, Path(f"{index.path}-wal"))))
    found = []
    for path in itertools.chain.from_iterable(map(_list_folders, folders)):
        if path in known and (path not in latest or _latest_modification(path) <= indexed_at):
            continue
        from framedex.captures import capture_state

        with suppress(FramedexError):
            state = capture_state(Path(path))
            if index.needs_capture(state.identity, path, state.signature):
                found.append(Path(path))
    return found


def _list_folders(folder: Path) -> list[str]:
    """The real paths of the folders in a folder, without links and captures in removal; none if it is unreadable."""
    with suppress(OSError), os.scandir(os.path.realpath(folder)) as entries:
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted(entry.path for entry in folders if not entry.name.endswith(REMOVAL_SUFFIX))
    return []


def _latest_modification(folder: str) -> float:
    with suppress(OSError), os.scandir(folder) as entries:
        return max((entry.stat().st_mtime for entry in entries), default=0.0)
    return 0.0


def _modification_time(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _start_time(capture: CaptureRow) -> float:
    return capture.started


def add_new_captures(index: Index, path: Path, settings: Settings, *, is_named: bool, may_write: bool) -> bool:
    """Add the project's new captures to the index at `path`, and return whether there were any.

    An index that the command line named (`is_named`) gets captures of its own project only. If that takes too long or
    is not allowed, note their number and the command that adds them.
    """
    projects = [project_folder(path)] if not is_named or absolute(path).parent.name == INDEX_FOLDER else []
    projects += [] if is_named else [working_folder()]
    found = find_new_captures(index, dict.fromkeys(project / CAPTURES for project in projects))
    if not found:
        return False
    if may_write and _is_allowed(settings) and _is_small(found) and _add(found, path, settings):
        note(f"Indexed {words.count(len(found), 'new recording')}: {_format_names(found)}.")
        return True
    is_or_are = "is" if len(found) == 1 else "are"
    note(f"{words.count(len(found), 'newer recording')} {is_or_are} not indexed: `framedex index`.")
    return False


def create_index(path: Path, settings: Settings) -> bool:
    """Create the index of the project's captures, if there are any and that is quick; return whether it was created."""
    captures = [capture for capture in list_project_captures(path) if _is_readable(capture)]
    if not captures or not _is_allowed(settings) or not _is_small(captures):
        return False
    note(f"Indexing {words.count(len(captures), 'recording')}: {_format_names(captures)}.")
    return _add(captures, path, settings)


def _add(captures: Sequence[Path], path: Path, settings: Settings) -> bool:
    from framedex.index import Store
    from framedex.index.file.database import Patience
    from framedex.ingest import find_needed_sources, ingest_captures
    from framedex.progress import Silence

    try:
        with Store(path, Patience(_LOCK_TIMEOUT_S)) as store:
            report = ingest_captures(store, captures, (), Silence(), find_needed_sources, settings.path_map)
            store.seal()
    except (FramedexError, OSError):
        return False  # `framedex index` reports it
    return bool(report.captures)


def _is_allowed(settings: Settings) -> bool:
    return settings.editor.get("auto-index") is not False


def _is_readable(capture: Path) -> bool:
    from framedex.captures import capture_state

    try:
        capture_state(capture)
    except FramedexError:
        return False
    return True


def _is_small(captures: Iterable[Path]) -> bool:
    return sum(read_capture_folder(str(capture)).size for capture in captures) <= MAX_SIZE_BYTES


def _format_names(captures: Sequence[Path]) -> str:
    names = [shell_word(capture.name) for capture in captures]
    return ", ".join(names if len(names) <= 2 else [*names[:2], f"and {len(names) - 2:,} more"])
