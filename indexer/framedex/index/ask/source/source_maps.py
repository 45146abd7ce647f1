"""Source maps in the index: whose definitions they are, and what is left of them when another takes their place."""

from __future__ import annotations

import sqlite3

from framedex.index.file.values import storable
from framedex.index.write.source_files import forget_definitions
from framedex.model import SourceMapInfo

_INFO = "component, repository, revision, is_dirty, tool"


def source_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """The maps that are known."""
    return [_info(row) for row in connection.execute(f"SELECT {_INFO} FROM source_maps ORDER BY component")]


def replace_map(
    connection: sqlite3.Connection, info: SourceMapInfo, origin: str, modified: int, size: int
) -> tuple[SourceMapInfo | None, int]:
    """Make room for a map: what was known of its component, which is gone now, and the id of the new one.

    `origin` is the file that it is read from, with its mtime in ns and its size in bytes.
    """
    replaced = remove_map(connection, info.component)
    identifier = connection.execute(
        f"INSERT INTO source_maps({_INFO}, prefix, path, modified, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(info.component, info.repository, info.commit, info.is_dirty, info.tool),
            *(info.prefix, storable(origin), modified, size),
        ),
    ).lastrowid
    assert identifier is not None
    return replaced, identifier


def remove_map(connection: sqlite3.Connection, component: str) -> SourceMapInfo | None:
    """Forget the map of a component with all its files; what it was of, None if there was none."""
    row = connection.execute(f"SELECT {_INFO}, id FROM source_maps WHERE component = ?", (component,)).fetchone()
    if row is None:
        return None
    files = [file for (file,) in connection.execute("SELECT file FROM source_files WHERE map = ?", row[-1:])]
    forget_definitions(connection, files)
    connection.execute("DELETE FROM source_files WHERE map = ?", row[-1:])
    connection.execute("DELETE FROM source_maps WHERE id = ?", row[-1:])
    return _info(row)


def _info(row: tuple[str, str | None, str, int, str]) -> SourceMapInfo:
    component, repository, commit, is_dirty, tool, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool)
