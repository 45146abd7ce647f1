"""Update the paths of an index whose project was moved."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from framedex.index.file.project import PROJECT, project_here
from framedex.index.file.values import storable
from framedex.index.write.aggregates import rebuild_lines
from framedex.index.write.source_files import forget_definitions
from framedex.path_resolution.moves import Move

_PATHS = (
    ("files", "path"),
    ("captures", "path"),
    ("modules", "path"),
    ("functions", "module"),
    ("builds", "folder"),
    ("source_roots", "path"),
    ("source_maps", "path"),
    ("macros", "root"),
)
"""The columns with paths of files and folders."""

_FILES = (
    ("frames", "file"),
    ("frames", "recorded_file"),
    ("functions", "file"),
    ("functions", "recorded_file"),
    ("candidates", "file"),
    ("file_versions", "file"),
    ("program_frames", "file"),
    ("program_frames", "recorded_file"),
)
"""The columns with the ids of files, except those of indexed source files and of totals."""


def follow_project(connection: sqlite3.Connection, path: Path) -> str | None:
    """Update the paths in the index at `path` to the project's folder; return its old folder, None if it has not moved.

    Runs inside the caller's transaction. A file that is in neither folder is reported as missing in the new one.
    """
    here, known = project_here(path), connection.execute(PROJECT).fetchone()
    if here is None or (known is not None and known[0] == storable(here)):
        return None
    connection.execute("INSERT INTO project_folders(path) VALUES (?)", (storable(here),))
    if known is None:
        return None
    _lead(connection, Move(known[0], storable(here), is_whole=True))
    return str(known[0])


def _lead(connection: sqlite3.Connection, move: Move) -> None:
    for table, column in _PATHS:
        inside = f"({column} = ?1 OR substr({column}, 1, length(?1) + 1) = ?1 || '/')"
        rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {inside}", (move.before,)).fetchall()
        moved = [(there, path) for (path,) in rows if (there := move.now(path)) != path]
        if table == "files":
            _join_files(connection, moved)
        # An existing row of another table, from a recording made in the new folder, stays unchanged.
        connection.executemany(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?", moved)


def _join_files(connection: sqlite3.Connection, moved: Sequence[tuple[str, str]]) -> None:
    """Merge the old and new row of a moved file if both are stored: debug information may still name the old path."""
    query = "SELECT new.id, old.id FROM files new, files old WHERE new.path = ? AND old.path = ?"
    pairs = [row for names in moved for row in connection.execute(query, names)]
    if not pairs:
        return
    gone = [(known,) for known, _ in pairs]
    forget_definitions(connection, [known for (known,) in gone])
    connection.executemany("DELETE FROM source_files WHERE file = ?", gone)
    for table, column in _FILES:
        connection.executemany(f"UPDATE OR IGNORE {table} SET {column} = ?2 WHERE {column} = ?1", pairs)
    connection.executemany("DELETE FROM files WHERE id = ?", gone)
    rebuild_lines(connection)
