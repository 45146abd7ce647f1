"""Rows of source maps, shared by writers and readers of the tables."""

from __future__ import annotations

import sqlite3

from framedex.index.file.conventions import Row
from framedex.model import SourceMapInfo

SOURCE_MAP_COLUMNS = "component, repository, revision, is_dirty, tool, is_nearest"

RELEASED_FILES = "SELECT id FROM files WHERE path NOT LIKE '/%' AND id NOT IN (SELECT file FROM source_files)"
"""The files of release maps: neither local paths nor files of an imported map."""


def known_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """Return the imported source maps."""
    query = f"SELECT {SOURCE_MAP_COLUMNS} FROM source_maps WHERE release IS NULL ORDER BY component"
    rows = connection.execute(query)
    return [source_map_info(row) for row in rows]


def source_map_info(row: Row) -> SourceMapInfo:
    """Build a source map from SOURCE_MAP_COLUMNS; further columns are ignored."""
    component, repository, commit, is_dirty, tool, is_nearest, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool, bool(is_nearest))
