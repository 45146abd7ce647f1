"""Create, drop and check the schema, which `schema.sql` documents.

A database that only claims to be an index may have a view in place of a table, or a computed column. A query on them
may never end. It may also have triggers that run on a write.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

APPLICATION_ID = int.from_bytes(b"fdex", "big")
"""SQLite's `application_id` of an index."""

VERSION = 17
"""SQLite's `user_version` of an index of this version."""

_CREATE_STATEMENT = re.compile(r"CREATE (?:VIRTUAL )?(TABLE|TRIGGER|VIEW) (\w+)")
_COMPUTED_COLUMN = re.compile(r"\b(?:AS|VIRTUAL)\b", re.IGNORECASE)


def list_schema_statements() -> list[str]:
    """Return the statements of `schema.sql` in order, without comments."""
    lines = Path(__file__).with_name("schema.sql").read_text("utf-8").splitlines()
    code = filter(None, (line.partition("--")[0].rstrip() for line in lines))
    _, *found = f";\n{chr(10).join(code)}".split(";\nCREATE ")
    return [f"CREATE {statement.removesuffix(';')}" for statement in found]


def create_schema(connection: sqlite3.Connection) -> None:
    """Create every table, index and view. Runs inside the caller's transaction."""
    for statement in list_schema_statements():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def drop_everything(connection: sqlite3.Connection) -> None:
    """Drop every table and view of an index of any version. Runs inside the caller's transaction."""
    objects = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        # Dropping a virtual table needs its shadow tables, which precede it after VACUUM.
        " ORDER BY sql LIKE 'CREATE VIRTUAL %' DESC"
    ).fetchall()
    for kind, name in objects:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP {kind} IF EXISTS "{quoted}"')  # a virtual table drops its shadow tables


_SCHEMA_PARTS = {
    match[2]: (match[1].lower(), text) for text in list_schema_statements() if (match := _CREATE_STATEMENT.match(text))
}

_QUERIED_VIEWS = frozenset(
    name for name, (kind, _) in _SCHEMA_PARTS.items() if kind == "view" and not name.endswith("_readable")
)
"""The views that framedex queries; the others are for users."""

TABLES = frozenset(name for name, (kind, _) in _SCHEMA_PARTS.items() if kind == "table")
"""The tables of the schema."""


def find_foreign_part(connection: sqlite3.Connection) -> str | None:
    """Return a noun phrase for a part that cannot belong to an index, or None. Extra tables and views are accepted."""
    parts = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')")
    for kind, original_name, statement in parts:
        name = original_name.lower()  # SQLite ignores the case of names
        is_ours = name in _SCHEMA_PARTS and _collapse_spaces(statement) == _collapse_spaces(_SCHEMA_PARTS[name][1])
        if kind == "trigger" and not is_ours:
            return f"a trigger {name}"
        if name in _QUERIED_VIEWS and not is_ours:
            return f"a {kind} {name} with a different definition"
        if kind == "view" and name in TABLES:
            return f"a view {name} in place of a table"
        if kind == "table" and name in TABLES and not is_ours and _COMPUTED_COLUMN.search(statement):
            return f"a table {name} with computed columns or no stored rows"
    return None


def _collapse_spaces(statement: str) -> str:
    return " ".join(statement.split())
