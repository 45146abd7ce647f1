"""Rows of source maps, which writers and readers of the tables both read."""

from __future__ import annotations

import sqlite3

from framedex.index.file.conventions import Row
from framedex.model import SourceMapInfo

SOURCE_MAP_COLUMNS = "component, repository, revision, is_dirty, tool"


def known_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """The source maps that are known."""
    rows = connection.execute(f"SELECT {SOURCE_MAP_COLUMNS} FROM source_maps ORDER BY component")
    return [source_map_info(row) for row in rows]


def source_map_info(row: Row) -> SourceMapInfo:
    """A source map from SOURCE_MAP_COLUMNS and whatever follows them."""
    component, repository, commit, is_dirty, tool, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool)
