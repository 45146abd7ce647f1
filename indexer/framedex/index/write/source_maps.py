"""Write source maps: an imported map replaces the previous map of its component."""

from __future__ import annotations

import sqlite3

from framedex.index.file.source_map_rows import SOURCE_MAP_COLUMNS, source_map_info
from framedex.index.file.values import storable
from framedex.index.write.source_files import forget_definitions
from framedex.model import SourceMapInfo


def replace_map(
    connection: sqlite3.Connection, info: SourceMapInfo, origin: str, modified: int, size: int
) -> tuple[SourceMapInfo | None, int]:
    """Replace the map of a component; returns the replaced map (None if there was none) and the new id.

    `origin` is the imported file, with its mtime in ns and its size in bytes.
    """
    replaced = remove_map(connection, info.component)
    identifier = connection.execute(
        f"INSERT INTO source_maps({SOURCE_MAP_COLUMNS}, prefix, path, modified, size)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *_columns(info),
            *(info.prefix, storable(origin), modified, size),
        ),
    ).lastrowid
    assert identifier is not None
    return replaced, identifier


def use_release_map(connection: sqlite3.Connection, info: SourceMapInfo, release: str) -> None:
    """Store the map of a release of jaxlib that locations refer to."""
    connection.execute(
        f"INSERT OR IGNORE INTO source_maps({SOURCE_MAP_COLUMNS}, prefix, release) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*_columns(info), info.prefix, release),
    )


def _columns(info: SourceMapInfo) -> tuple[object, ...]:
    """Return the values of SOURCE_MAP_COLUMNS."""
    return info.component, info.repository, info.commit, info.is_dirty, info.tool, info.is_nearest


def remove_map(connection: sqlite3.Connection, component: str) -> SourceMapInfo | None:
    """Remove the map of a component with all its files; return its info, None if there was no map."""
    query = f"SELECT {SOURCE_MAP_COLUMNS}, id FROM source_maps WHERE component = ? AND release IS NULL"
    row = connection.execute(query, (component,)).fetchone()
    if row is None:
        return None
    files = [file for (file,) in connection.execute("SELECT file FROM source_files WHERE map = ?", row[-1:])]
    forget_definitions(connection, files)
    connection.execute("DELETE FROM source_files WHERE map = ?", row[-1:])
    connection.execute("DELETE FROM source_maps WHERE id = ?", row[-1:])
    return source_map_info(row)
