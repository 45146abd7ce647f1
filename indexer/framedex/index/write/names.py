"""Write the searchable names: each short name once, with its parts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def add_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Add the short names of definitions to the search."""
    _add(connection, "INSERT OR IGNORE INTO names(name, is_recorded) VALUES (?, 0)", set(names))


def add_recorded_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Add the names of recorded functions, boundary functions and FFI targets to the search."""
    query = (
        "INSERT INTO names(name, is_recorded) VALUES (?, 1)"
        " ON CONFLICT DO UPDATE SET is_recorded = 1 WHERE NOT is_recorded"
    )
    _add(connection, query, set(names))


def _add(connection: sqlite3.Connection, query: str, names: set[str]) -> None:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM names").fetchone()
    connection.executemany(query, [(name,) for name in names])
    # In one statement: a trigger for each name takes three times as long.
    connection.execute("INSERT INTO name_parts(rowid, name) SELECT id, name FROM names WHERE id > ?", (last,))


def drop_unused_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Delete the short names that neither a definition nor a recorded function has any more."""
    connection.executemany(
        "DELETE FROM names WHERE name = ?1 COLLATE NOCASE AND name = ?1 AND NOT is_recorded"
        " AND NOT EXISTS (SELECT 1 FROM definitions WHERE short_name = ?1)",
        [(name,) for name in names],
    )
