"""Rows of source files and source maps that writers and readers of the tables both read."""

from __future__ import annotations

import sqlite3

from framedex.index.file.conventions import Row
from framedex.model import Definition, SourceMapInfo

DEFINITIONS_NAMED = (
    "SELECT f.path, d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const"
    " FROM definitions d JOIN files f ON f.id = d.file JOIN source_files s ON s.file = d.file"
    " WHERE d.short_name = ?1 AND s.language = ?2 AND NOT (s.map IS NOT NULL AND EXISTS ("
    "  SELECT 1 FROM source_roots r JOIN files here ON here.path ="
    "  r.path || '/' || substr(f.path, instr(f.path, ':') + 1) JOIN source_files l ON l.file = here.id))"
    " ORDER BY f.path, d.line"
)
"""Rows for `definition`, by short name and language; of a file that a source tree and a map have, the tree's."""

SOURCE_MAP_COLUMNS = "component, repository, revision, is_dirty, tool"


def definition(name: str, kind: str, parameters: str | None, line: int, end_line: int, is_const: int) -> Definition:
    """A definition from its columns, without its calls."""
    return Definition(name, kind, parameters, line, end_line, bool(is_const))


def known_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """The source maps that are known."""
    rows = connection.execute(f"SELECT {SOURCE_MAP_COLUMNS} FROM source_maps ORDER BY component")
    return [source_map_info(row) for row in rows]


def source_map_info(row: Row) -> SourceMapInfo:
    """A source map from SOURCE_MAP_COLUMNS and whatever follows them."""
    component, repository, commit, is_dirty, tool, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool)
