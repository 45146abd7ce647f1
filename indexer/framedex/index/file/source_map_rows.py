"""Rows of source maps, which writers and readers of the tables both read."""

from __future__ import annotations

import sqlite3

from framedex.index.file.conventions import Row
from framedex.model import SourceMapInfo

SOURCE_MAP_COLUMNS = "component, repository, revision, is_dirty, tool, is_nearest"

RELEASED_FILES = "SELECT id FROM files WHERE path NOT LIKE '/%' AND id NOT IN (SELECT file FROM source_files)"
"""The files of release maps: no paths of this machine, and none of an imported map."""


def known_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """The source maps that were imported."""
    query = f"SELECT {SOURCE_MAP_COLUMNS} FROM source_maps WHERE release IS NULL ORDER BY component"
    rows = connection.execute(query)
    return [source_map_info(row) for row in rows]


def source_map_info(row: Row) -> SourceMapInfo:
    """A source map from SOURCE_MAP_COLUMNS and whatever follows them."""
    component, repository, commit, is_dirty, tool, is_nearest, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool, bool(is_nearest))
