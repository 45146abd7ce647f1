"""Which states of files the recorded lines are about, and which state was indexed.

A line that Python or DWARF told is about the file as it was when the program ran; what was found in source trees is
about the file as it was when it was indexed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.model import FileState
from framedex.sources.changes import file_state

# Archives that are to be the same every time give their files a time before this, which means nothing.
_OLDEST = 400_000_000 * 1_000_000_000  # ns: 1982


def remember_versions(connection: sqlite3.Connection, frames: Iterable[int], began: int | None) -> None:
    """Note the state that the files of these frames are in, for the frames with exact lines and their functions.

    `began` is when the recording did (Unix time in ns, None: unknown). Of a file that was changed after that, or after
    the binary that was made of it, nobody can say what it was.
    """
    wanted = json_list(frames)
    rows = connection.execute(
        f"SELECT DISTINCT fr.file, f.path, fr.module, m.path FROM frames fr JOIN files f ON f.id = fr.file"
        f" LEFT JOIN modules m ON m.id = fr.module WHERE fr.id {IN_JSON} AND fr.how = 'exact'",
        (wanted,),
    ).fetchall()
    for file, path, module, binary in rows:
        version = version_of(connection, file, path, min(filter(None, (began, _made(binary))), default=None))
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


def version_of(connection: sqlite3.Connection, file: int, path: str, until: int | None) -> int | None:
    """The id of the state that a file is in, or of an unknown one if that is not what it was; None for no file."""
    state = file_state(path)
    if state is None:
        return None
    if until is not None and state.modified > until:
        state = FileState(0, 0, "")
    connection.execute(
        "INSERT INTO file_versions(file, modified, size, blob) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT(file, blob) DO UPDATE SET modified = ?2",
        (file, state.modified, state.size, state.blob),
    )
    key = file, state.blob
    return int(connection.execute("SELECT id FROM file_versions WHERE file = ? AND blob = ?", key).fetchone()[0])


def _made(binary: str | None) -> int | None:
    """When a binary was written, None where its time does not say."""
    try:
        modified = os.stat(binary).st_mtime_ns if binary else 0  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return modified if modified > _OLDEST else None
