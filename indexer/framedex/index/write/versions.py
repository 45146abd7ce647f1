"""Store the recorded versions of source files, and their indexed versions.

A line from Python or DWARF refers to the file as it was when the program ran. A location from a source tree refers to
the file as it was when it was indexed.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.base.regularfile import read_regular_text
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.file.values import pack_text
from framedex.index.write.interning import intern_files
from framedex.index.write.records import FrameRecord, RecordedSource
from framedex.model import FileState
from framedex.sources.file_versions import are_installed_together, compute_blob_name, read_file_state, read_stable

_MIN_MTIME_NS = 400_000_000 * 1_000_000_000  # 1982; reproducible archives give their files earlier, meaningless times

_MAX_TEXT_BYTES = 1 << 20  # larger source files are generated


def store_versions(
    connection: sqlite3.Connection,
    frames: Iterable[int],
    began: int | None,
    own: ProgramFileVersions,
) -> None:
    """Store the recorded state of the files of these frames, for the frames with exact lines and their functions.

    `began` is the start of the recording (Unix time in ns, None: unknown). `own` has the states of the program's own
    Python files. The state of another file is unknown if the file was changed after `began`, or after the build of its
    binary. Files that the binary's installer wrote together with the binary are an exception.
    """
    frames_json = build_json_list(frames)
    rows = connection.execute(
        "SELECT DISTINCT fr.file, f.path, fr.recorded_file, r.path, fr.module, m.path FROM frames fr"
        " JOIN files f ON f.id = fr.file LEFT JOIN files r ON r.id = fr.recorded_file"
        f" LEFT JOIN modules m ON m.id = fr.module WHERE fr.id {IN_JSON} AND fr.how = 'exact'",
        (frames_json,),
    ).fetchall()
    for file, path, recorded, recorded_path, module, binary in rows:
        if module is None and recorded_path in own.by_path:
            version = own.by_path[recorded_path]
        else:
            version = _intern_other_version(connection, frames_json, file, path, module, binary, began)
            connection.execute(
                f"UPDATE frames SET version = ? WHERE id {IN_JSON} AND file = ? AND module IS ? AND how = 'exact'",
                (version, frames_json, file, module),
            )
        if module is None:
            connection.execute(
                "UPDATE functions SET version = ? WHERE file = ? AND recorded_file IS ? AND how = 'exact'"
                f" AND language = 'python' AND id IN (SELECT function FROM frames WHERE id {IN_JSON})",
                (version, file, recorded, frames_json),
            )


class ProgramFileVersions:
    """The recorded states of the program's own Python files. Each frame belongs to one state."""

    def __init__(
        self, connection: sqlite3.Connection, began: int | None, source_of: Callable[[str], RecordedSource | None]
    ) -> None:
        """`source_of` returns the recorded state of a file, None if the recording has none."""
        self.by_path: dict[str, int | None] = {}
        self._connection = connection
        self._began = began
        self._source_of = source_of

    def extend(self, source_of: Callable[[str], RecordedSource | None]) -> None:
        """Continue with a recording that has grown. The known states stay."""
        self._source_of = source_of

    def add(self, frames: Iterable[FrameRecord]) -> None:
        """Add the states of the files of these frames to `by_path`; None if a file is not here."""
        functions: dict[str, set[tuple[str, int]]] = {}
        for frame in frames:
            if frame.module is None and frame.location is not None and frame.location.path not in self.by_path:
                function = frame.function.name, frame.function.first_line
                functions.setdefault(frame.location.path, set()).add(function)
        own = [path for path in functions if is_user_file(path)]
        files = {} if not own else intern_files(self._connection, own)
        for path, file in files.items():
            state = _find_python_state(path, self._source_of(path), self._began, functions[path])
            self.by_path[path] = _intern_version(self._connection, file, state, is_own=True)


def _intern_other_version(
    connection: sqlite3.Connection,
    frames: str,
    file: int,
    path: str,
    module: int | None,
    binary: str | None,
    began: int | None,
) -> int | None:
    """Return the state of a file that is not the program's own Python."""
    if module is not None:
        until = min(filter(None, (began, _find_build_time_ns(binary, path))), default=None)
        return _intern_version(connection, file, _read_present_state(path, until))
    functions = connection.execute(
        "SELECT DISTINCT fn.name, fn.first_line FROM frames fr JOIN functions fn ON fn.id = fr.function"
        f" WHERE fr.id {IN_JSON} AND fr.file = ?",
        (frames, file),
    )
    return _intern_version(connection, file, _find_python_state(path, None, began, functions))


def store_indexed_blobs(connection: sqlite3.Connection, files: Iterable[int]) -> None:
    """Store the git blob hashes of these files as they were indexed, unless the files have changed since."""
    rows = connection.execute(
        f"SELECT s.file, f.path, s.modified, s.size FROM source_files s JOIN files f ON f.id = s.file"
        f" WHERE s.file {IN_JSON} AND s.blob = '' AND s.map IS NULL",
        (build_json_list(files),),
    ).fetchall()
    for file, path, modified, size in rows:
        state = read_file_state(path)
        if state and (state.modified, state.size) == (modified, size):
            connection.execute("UPDATE source_files SET blob = ? WHERE file = ?", (state.blob, file))


def intern_recorded_version(
    connection: sqlite3.Connection, file: int, path: str, began: int | None, source: RecordedSource | None
) -> int | None:
    """Return the id of a file's state when a recording began; None if the state is unknown and the file is not here.

    `source` is the recorded state, None if the recording has none.
    """
    if source is None:
        state = _read_present_state(path, began)
    else:
        was_imported_before = began is None or source.modified <= began
        state = _find_recorded_state(source, path) if was_imported_before else _UNKNOWN
    return _intern_version(connection, file, state, is_own=is_user_file(path))


@dataclass(frozen=True, slots=True)
class _FileState:
    """The state of a file, with its content; None if the content is unknown or not to be stored."""

    file: FileState
    text: bytes | None


_UNKNOWN = _FileState(FileState(0, 0, ""), None)


def _find_python_state(
    path: str, source: RecordedSource | None, began: int | None, functions: Iterable[tuple[str, int]]
) -> _FileState | None:
    """Return the state of a Python file in which these functions, by name and first line, were recorded."""
    known = _read_present_state(path, began) if source is None else _find_recorded_state(source, path)
    return _UNKNOWN if known and known.file.blob and _lacks_functions(functions, path, known, began) else known


def _find_recorded_state(source: RecordedSource, path: str) -> _FileState:
    """Return the state in a recording: by the stored text, else by the hash of its content."""
    text = source.read()
    if text is not None:
        return _FileState(FileState(source.modified, len(text), compute_blob_name(text)), text)
    present = read_stable(path)
    if present is None or not source.is_content(present.content):
        return _UNKNOWN
    return _FileState(present.state(), None)


def _read_present_state(path: str, until: int | None) -> _FileState | None:
    """Return the current state of a file, unknown if it was modified after `until`; None if the file is missing."""
    present = read_stable(path)
    if present is None:
        return None
    if until is not None and present.modified > until:
        return _UNKNOWN
    is_stored = len(present.content) <= _MAX_TEXT_BYTES and is_user_file(path)
    return _FileState(present.state(), present.content if is_stored else None)


def _intern_version(
    connection: sqlite3.Connection, file: int, state: _FileState | None, *, is_own: bool = False
) -> int | None:
    if state is None:
        return None
    key = file, state.file.blob
    connection.execute(
        "INSERT INTO file_versions(file, blob, modified, size, is_own) VALUES (?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT(file, blob) DO UPDATE SET modified = ?3",
        (*key, state.file.modified, state.file.size, is_own),
    )
    query = "SELECT id, text IS NULL FROM file_versions WHERE file = ? AND blob = ?"
    version, has_no_text = connection.execute(query, key).fetchone()
    if has_no_text and state.text is not None:
        connection.execute("UPDATE file_versions SET text = ? WHERE id = ?", (pack_text(state.text), version))
    return int(version)


def _lacks_functions(functions: Iterable[tuple[str, int]], path: str, state: _FileState, began: int | None) -> bool:
    """Return whether a Python file that appeared after a recording began lacks these functions.

    Such a file may be of another version of its package, linked there by uv with an old modification time. A file may
    also be edited between its import and its first recorded frame.
    """
    try:
        if began is None or (state.file.modified <= began and os.stat(path).st_ctime_ns <= began):  # noqa: PTH116
            return False
        text = read_regular_text(Path(path)) if state.text is None else state.text.decode("utf-8", "replace")
        lines = text.split("\n")
    except (OSError, ValueError):
        return False
    return any(not _can_begin(name, first_line, lines) for name, first_line in functions)


def _can_begin(name: str, first_line: int, lines: Sequence[str]) -> bool:
    """Return whether a function, a class or its decorator can begin on this line.

    An unnamed function can begin on any line.
    """
    name = name.rpartition(".")[2]
    if name.startswith("<"):
        return first_line <= len(lines)
    text = lines[first_line - 1].lstrip() if 0 < first_line <= len(lines) else ""
    if name == "inner" and "%timeit" in text:  # the function that IPython wraps around timed code
        return True
    return text.startswith("@") or re.match(rf"(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", text) is not None


def _find_build_time_ns(binary: str | None, source: str) -> int | None:
    """Return the time after which a source file no longer matches its binary's build (Unix time); None if unknown."""
    try:
        modified = os.stat(binary).st_mtime_ns if binary else 0  # noqa: PTH116
        is_older = os.stat(source).st_mtime_ns <= modified  # noqa: PTH116
    except (OSError, ValueError):
        return None
    if modified <= _MIN_MTIME_NS or (binary and not is_older and are_installed_together(Path(binary), Path(source))):
        return None
    return modified
