"""Which states of files the recorded lines are about, and which state was indexed.

A line that Python or DWARF told is about the file as it was when the program ran; what was found in source trees is
about the file as it was when it was indexed.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.model import FileState
from framedex.regularfile import read_regular_text
from framedex.sources.changes import file_state
from framedex.sources.installed import installed_together

# Archives that are to be the same every time give their files a time before this, which means nothing.
_OLDEST = 400_000_000 * 1_000_000_000  # ns: 1982


def remember_versions(connection: sqlite3.Connection, frames: Iterable[int], began: int | None) -> None:
    """Note the state that the files of these frames are in, for the frames with exact lines and their functions.

    `began` is when the recording did (Unix time in ns, None: unknown). Of a file that was changed after that, or after
    the build of its binary, the state is unknown, unless one installer wrote both.
    """
    wanted = json_list(frames)
    rows = connection.execute(
        f"SELECT DISTINCT fr.file, f.path, fr.module, m.path FROM frames fr JOIN files f ON f.id = fr.file"
        f" LEFT JOIN modules m ON m.id = fr.module WHERE fr.id {IN_JSON} AND fr.how = 'exact'",
        (wanted,),
    ).fetchall()
    for file, path, module, binary in rows:
        until = min(filter(None, (began, _build_time_ns(binary, path))), default=None)
        is_other = module is None and _contradicts(connection, wanted, file, path, began)
        version = version_of(connection, file, path, until, is_other)
        connection.execute(
            f"UPDATE frames SET version = ? WHERE id {IN_JSON} AND file = ? AND module IS ? AND how = 'exact'",
            (version, wanted, file, module),
        )
        if module is None:
            connection.execute(
                "UPDATE functions SET version = ? WHERE file = ? AND how = 'exact' AND language = 'python'"
                f" AND id IN (SELECT function FROM frames WHERE id {IN_JSON})",
                (version, file, wanted),
            )


def remember_indexed(connection: sqlite3.Connection, files: Iterable[int]) -> None:
    """Note the content of these files as they were indexed, unless they have changed since."""
    rows = connection.execute(
        f"SELECT s.file, f.path, s.modified, s.size FROM source_files s JOIN files f ON f.id = s.file"
        f" WHERE s.file {IN_JSON} AND s.blob = '' AND s.map IS NULL",
        (json_list(files),),
    ).fetchall()
    for file, path, modified, size in rows:
        state = file_state(path)
        if state and (state.modified, state.size) == (modified, size):
            connection.execute("UPDATE source_files SET blob = ? WHERE file = ?", (state.blob, file))


def version_of(
    connection: sqlite3.Connection, file: int, path: str, until: int | None, is_other: bool = False
) -> int | None:
    """The id of the state that a file is in, or of an unknown one if that is not what it was; None for no file."""
    state = file_state(path)
    if state is None:
        return None
    if is_other or (until is not None and state.modified > until):
        state = FileState(0, 0, "")
    connection.execute(
        "INSERT INTO file_versions(file, modified, size, blob) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT(file, blob) DO UPDATE SET modified = ?2",
        (file, state.modified, state.size, state.blob),
    )
    key = file, state.blob
    return int(connection.execute("SELECT id FROM file_versions WHERE file = ? AND blob = ?", key).fetchone()[0])


def _contradicts(connection: sqlite3.Connection, frames: str, file: int, path: str, began: int | None) -> bool:
    """Whether a Python file that was put where it is after a recording began lacks functions of these frames there.

    uv links files of other versions there, whose content was written long before.
    """
    try:
        if began is None or os.stat(path).st_ctime_ns <= began:  # noqa: PTH116
            return False
        lines = read_regular_text(Path(path)).split("\n")
    except (OSError, ValueError):
        return False
    functions = connection.execute(
        "SELECT DISTINCT fn.name, fn.first_line FROM frames fr JOIN functions fn ON fn.id = fr.function"
        f" WHERE fr.id {IN_JSON} AND fr.file = ?",
        (frames, file),
    )
    return any(not _begins(name, first_line, lines) for name, first_line in functions)


def _begins(name: str, first_line: int, lines: Sequence[str]) -> bool:
    """Whether a function or class, or a decorator of one, can begin on its line; of what has no name anything can."""
    name = name.rpartition(".")[2]
    if name.startswith("<"):
        return first_line <= len(lines)
    text = lines[first_line - 1].lstrip() if 0 < first_line <= len(lines) else ""
    return text.startswith("@") or re.match(rf"(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", text) is not None


def _build_time_ns(binary: str | None, source: str) -> int | None:
    """The time after which a source differs from the one its binary was built from (Unix time); None if unknown."""
    try:
        modified = os.stat(binary).st_mtime_ns if binary else 0  # noqa: PTH116
        is_older = os.stat(source).st_mtime_ns <= modified  # noqa: PTH116
    except (OSError, ValueError):
        return None
    if modified <= _OLDEST or (binary and not is_older and installed_together(Path(binary), Path(source))):
        return None
    return modified
