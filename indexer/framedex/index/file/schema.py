"""The schema, documented in `schema.sql`: creating it, and dropping that of any version."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from framedex.index.file.version import APPLICATION_ID, VERSION


def statements() -> list[str]:
    """Return the statements of `schema.sql` in order, without comments."""
    lines = Path(__file__).with_name("schema.sql").read_text("utf-8").splitlines()
    code = filter(None, (line.partition("--")[0].rstrip() for line in lines))
    _, *found = f";\n{chr(10).join(code)}".split(";\nCREATE ")
    return [f"CREATE {statement.removesuffix(';')}" for statement in found]


def create(connection: sqlite3.Connection) -> None:
    """Create every table, index and view. Runs inside the caller's transaction."""
    for statement in statements():
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
