"""Update the index before a verb answers: add the project's new captures, if that is quick.

A question without new captures pays only for listing folders and for the modification times of the latest captures.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import CAPTURES, REMOVAL_SUFFIX, is_allowed_index_path, read_capture_folder
from framedex.base.plaintext import quote_shell_word
from framedex.commands.inputs.files import to_absolute_path, working_folder
from framedex.commands.output.console import note

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CaptureRow
    from framedex.settings import Settings

INDEX_FOLDER = ".framedex"

MAX_SIZE_BYTES = 32 << 20
"""The maximum size of new captures that a verb indexes before it answers. Usual recordings have some MiB."""

_LOCK_TIMEOUT_S = 0.5  # if another process writes the index, it adds these captures
_MAX_GROWING_CAPTURES = 3  # checked for growth, because their programs may still run


def list_project_captures(index_path: Path) -> list[Path]:
    """The captures of the index's project and of the working folder, in which `framedex run` records.

    Raises FramedexError if a folder cannot be listed.
    """
    from framedex.captures import capture_folders

    folders = dict.fromkeys(project / CAPTURES for project in (project_folder(index_path), working_folder()))
    return [capture for folder in folders for capture in capture_folders(folder)]


def project_folder(index_path: Path) -> Path:
    """The project of an index: that of PROJECT/.framedex/index.db, otherwise the working folder."""
    folder = to_absolute_path(index_path).parent
    return folder.parent if folder.name == INDEX_FOLDER else working_folder()


def find_unindexed_captures(index: Index | None, path: Path, *, is_named: bool) -> list[CaptureRow]:
    """The captures of its project that the index at `path` lacks, oldest first. Their ids are 0.

    `index` is None if there is no index yet. Each row has the number of its run: that in the index, or the next one.
    """
    recorded = index.captures() if index is not None else []
    known = {capture.path for capture in recorded}
    found = (
        _list_readable_captures(path) if index is None else find_new_captures(index, _capture_folders(path, is_named))
    )
    rows = sorted((_read_row(folder) for folder in found if str(folder) not in known), key=_start_time)
    runs = {_run_id(capture): capture.run for capture in recorded} if rows else {}
    return [replace(row, run=runs.setdefault(_run_id(row), max(runs.values(), default=0) + 1)) for row in rows]


def _read_row(folder: Path) -> CaptureRow:
    from framedex.captures import read_metadata
    from framedex.model import CaptureRow

    metadata = read_metadata(folder)
    started = metadata.started_unix_ns
    seconds = _modification_time(folder) if started is None else started / 1e9
    return CaptureRow(0, str(folder), seconds, metadata.command, 0, 0, metadata.text, ())


def _run_id(capture: CaptureRow) -> str:
    """The id of the `framedex run` that recorded a capture; without one, the path of the capture."""
    from framedex.model import Metadata

    launch = Metadata.parse(capture.metadata_text).launch
    return (launch and launch.run) or capture.path


def find_new_captures(index: Index, folders: Iterable[Path]) -> list[Path]:
    """The captures in these folders that the index lacks, and the latest indexed ones that have grown.

    Unreadable captures are skipped. Reading a capture's state needs slow imports, so it is read only if the folder is
    new, or if a file is newer than the index.
    """
    recorded = index.captures()
    known = {capture.path for capture in recorded}
    latest = {capture.path for capture in sorted(recorded, key=_start_time)[-_MAX_GROWING_CAPTURES:]}
    indexed_at = max(map(_modification_time, (index.path, Path(f"{index.path}-wal"))))
    found = []
    for path in itertools.chain.from_iterable(map(_list_folders, folders)):
        if path in known and (path not in latest or _find_latest_modification(path) <= indexed_at):
            continue
        from framedex.captures import read_capture_state

        with suppress(FramedexError):
            state = read_capture_state(Path(path))
            if index.needs_capture(state.identity, path, state.signature):
                found.append(Path(path))
    return found


def _list_folders(folder: Path) -> list[str]:
    """Return resolved paths of subfolders, excluding symlinks and captures being removed; empty if unreadable."""
    with suppress(OSError), os.scandir(os.path.realpath(folder)) as entries:
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted(entry.path for entry in folders if not entry.name.endswith(REMOVAL_SUFFIX))
    return []


def _find_latest_modification(folder: str) -> float:
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
    found = find_new_captures(index, _capture_folders(path, is_named))
    if not found:
        return False
    is_writable = may_write and (
        is_named or path == settings.index or is_allowed_index_path(path, project_folder(path))
    )
    if is_writable and _is_allowed(settings) and _is_small(found) and _index_captures(found, path, settings):
        note(f"Indexed {words.count(len(found), 'new recording')}: {_format_names(found)}.")
        return True
    note(f"{words.count(len(found), 'newer recording')} {_is_or_are(found)} not indexed: `framedex index`.")
    return False


def _capture_folders(path: Path, is_named: bool) -> Iterable[Path]:
    """The folders of captures that the index at `path` answers for."""
    projects = [project_folder(path)] if not is_named or to_absolute_path(path).parent.name == INDEX_FOLDER else []
    projects += [] if is_named else [working_folder()]
    return dict.fromkeys(project / CAPTURES for project in projects)


def create_index(path: Path, settings: Settings) -> bool:
    """Create the index of the project's captures, if that is quick and allowed; return whether it was created.

    Raises FramedexError if it is not, and there are captures.
    """
    captures = _list_readable_captures(path)
    if not captures:
        return False
    if _is_allowed(settings) and _is_small(captures):
        note(f"Indexing {words.count(len(captures), 'recording')}: {_format_names(captures)}.")
        return _index_captures(captures, path, settings)
    raise FramedexError(
        f"There is no index yet: {words.count(len(captures), 'recording')} {_is_or_are(captures)} not indexed.",
        "Run `framedex index`.",
    )


def _list_readable_captures(path: Path) -> list[Path]:
    return [capture for capture in list_project_captures(path) if _is_readable(capture)]


def _is_or_are(captures: Sequence[Path]) -> str:
    return "is" if len(captures) == 1 else "are"


def _index_captures(captures: Sequence[Path], path: Path, settings: Settings) -> bool:
    from framedex.base.progress import SilentProgress
    from framedex.index import Store
    from framedex.index.file.database import LockTimeout
    from framedex.ingest import find_needed_sources, ingest_captures

    try:
        with Store(path, LockTimeout(_LOCK_TIMEOUT_S)) as store:
            report = ingest_captures(store, captures, (), SilentProgress(), find_needed_sources, settings.path_map)
            store.seal()
    except (FramedexError, OSError):
        return False  # `framedex index` reports it
    return bool(report.captures)


def _is_allowed(settings: Settings) -> bool:
    return settings.editor.get("auto-index") is not False


def _is_readable(capture: Path) -> bool:
    from framedex.captures import read_capture_state

    try:
        read_capture_state(capture)
    except FramedexError:
        return False
    return True


def _is_small(captures: Iterable[Path]) -> bool:
    return sum(read_capture_folder(str(capture)).size for capture in captures) <= MAX_SIZE_BYTES


def _format_names(captures: Sequence[Path]) -> str:
    names = [quote_shell_word(capture.name) for capture in captures]
    return ", ".join(names if len(names) <= 2 else [*names[:2], f"and {len(names) - 2:,} more"])
