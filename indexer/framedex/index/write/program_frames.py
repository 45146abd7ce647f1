"""Write the source lines that programs name, in the versions of their files at the time of the recording."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from framedex.index.file.paths import is_user_file
from framedex.index.file.values import to_storable
from framedex.index.write.interning import intern_files
from framedex.index.write.records import CaptureRecord
from framedex.index.write.versions import intern_recorded_version
from framedex.model import ProgramFrame

_References = tuple[tuple[str, str, str], ...]
"""The columns that refer to lines: table, column of the line, and column of the owner of the row."""

OPS_OF_PROGRAM: _References = (
    ("program_lines", "frame", "program"),
    ("program_own_lines", "frame", "program"),
    ("program_steps", "origin", "program"),
    ("program_steps", "target", "program"),
)
BUFFERS_OF_PROGRAM: _References = (
    ("program_buffer_lines", "frame", "memory"),
    ("program_collectives", "frame", "memory"),
    ("program_fusion_lines", "frame", "memory"),
)


class ProgramFrameWriter:
    """Writes the lines of the programs of one capture."""

    def __init__(self, connection: sqlite3.Connection, record: CaptureRecord) -> None:
        self._connection = connection
        self._record = record

    def intern(self, frames: Iterable[ProgramFrame]) -> dict[ProgramFrame, int]:
        """Return the rows of lines, in any version of their files."""
        paths = {frame: to_storable(frame.path) for frame in frames}
        files = intern_files(self._connection, paths.values())
        keys = {frame: (files[path], frame.line, to_storable(frame.function)) for frame, path in paths.items()}
        ids = {key: self._intern_frame(*key) for key in sorted(set(keys.values()))}
        return {frame: ids[key] for frame, key in keys.items()}

    def store_versions(self, references: _References, owner: int) -> None:
        """Store the versions of the files that an owner's rows name, because its lines refer to those versions."""
        frames = _select_frames(references)
        files = self._connection.execute(
            "SELECT DISTINCT fr.file, f.path, fr.recorded_file, r.path FROM program_frames fr"
            f" JOIN files f ON f.id = fr.file JOIN files r ON r.id = fr.recorded_file WHERE fr.id IN ({frames})",
            (owner,),
        ).fetchall()
        for file, path, recorded, recorded_path in files:
            if is_user_file(recorded_path):
                version = self._intern_version(recorded, recorded_path)
                self._move_to_version(references, owner, file, recorded, version)
            else:
                version = self._intern_version(file, path)
                self._connection.execute(
                    f"UPDATE program_frames SET version = ?2 WHERE file = ?3 AND id IN ({frames})",
                    (owner, version, file),
                )

    def _intern_frame(
        self, file: int, line: int, function: str, local_file: int | None = None, version: int | None = None
    ) -> int:
        """Return the row of a line in one version of its file, adding it if missing; `local_file` is the local file.

        Without `local_file`, a row in any version counts, and a new row gets the recorded file.
        """
        query = "SELECT id FROM program_frames WHERE recorded_file = ? AND line = ? AND function = ?"
        of_version = "" if local_file is None else f" AND version IS {'NULL' if version is None else version}"
        known = self._connection.execute(query + of_version, (file, line, function)).fetchone()
        if known is not None:
            return int(known[0])
        added = self._connection.execute(
            "INSERT INTO program_frames(recorded_file, line, function, file, version) VALUES (?, ?, ?, ?, ?)",
            (file, line, function, file if local_file is None else local_file, version),
        ).lastrowid
        assert added is not None
        return added

    def _intern_version(self, file: int, path: str) -> int | None:
        return intern_recorded_version(self._connection, file, path, self._record.started_ns, self._record.source(path))

    def _move_to_version(
        self, references: _References, owner: int, file: int, recorded: int, version: int | None
    ) -> None:
        """Move an owner's lines to this version of a file. Lines of other owners stay unchanged."""
        other_versions = self._connection.execute(
            "SELECT id, line, function FROM program_frames"
            f" WHERE id IN ({_select_frames(references)}) AND file = ?2 AND recorded_file = ?3 AND version IS NOT ?4",
            (owner, file, recorded, version),
        ).fetchall()
        for frame, line, function in other_versions:
            new_frame = self._intern_frame(recorded, line, function, file, version)
            for table, column, of_owner in references:
                self._connection.execute(
                    f"UPDATE {table} SET {column} = ? WHERE {of_owner} = ? AND {column} = ?", (new_frame, owner, frame)
                )


def _select_frames(references: _References) -> str:
    """Return a query for the lines of the owner `?1`."""
    return " UNION ".join(f"SELECT {column} FROM {table} WHERE {owner} = ?1" for table, column, owner in references)
