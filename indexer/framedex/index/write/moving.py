"""An index whose project was moved: what it says is in the project is where that is now."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from framedex.index.file.project import PROJECT, project_here
from framedex.index.file.values import storable
from framedex.whereabouts.moves import Move

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


def follow_project(connection: sqlite3.Connection, path: Path) -> None:
    """Lead what an index at `path` has of its project to where that is now. Runs inside the caller's transaction.

    What is neither here nor there was removed, and is said to be missing where the project is.
    """
    here, known = project_here(path), connection.execute(PROJECT).fetchone()
    if here is None or (known is not None and known[0] == storable(here)):
        return
    if known is not None:
        _lead(connection, Move(known[0], storable(here), is_whole=True))
    connection.execute("INSERT INTO project_folders(path) VALUES (?)", (storable(here),))


def _lead(connection: sqlite3.Connection, move: Move) -> None:
    for table, column in _PATHS:
        inside = f"({column} = ?1 OR substr({column}, 1, length(?1) + 1) = ?1 || '/')"
        rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {inside}", (move.before,)).fetchall()
        moved = [(there, path) for (path,) in rows if (there := move.now(path)) != path]
        # A place that has a row of its own already, from a recording that was made there, keeps that.
        connection.executemany(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?", moved)
