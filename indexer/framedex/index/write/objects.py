"""Writing the objects of the runtime that the calls of a capture speak of."""

from __future__ import annotations

import sqlite3

from framedex.index.file.values import signed
from framedex.objects import Lifetimes


def add_objects(connection: sqlite3.Connection, capture_id: int, lifetimes: Lifetimes) -> None:
    """Add what is known of the objects of a capture whose calls are there already."""
    base = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM objects").fetchone()[0]
    first = connection.execute("SELECT first_call FROM captures WHERE id = ?", (capture_id,)).fetchone()[0]

    def call_id(row: int | None) -> int | None:
        return None if row is None else first + row

    connection.executemany(
        "INSERT INTO objects(id, capture, type, number, address, born, created_call, first_call, last_call,"
        " deleted_call, destroyed_call, uses, client, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                *(base + place, capture_id, found.type, found.number, signed(found.address), found.born),
                *map(call_id, (found.created_call, found.first_call, found.last_call)),
                *map(call_id, (found.deleted_call, found.destroyed_call)),
                *(found.uses, None if found.owner is None else base + found.owner, found.size),
            )
            for place, found in enumerate(lifetimes.objects)
        ),
    )
    connection.executemany(
        "INSERT INTO violations(kind, object, call, earlier_call) VALUES (?, ?, ?, ?)",
        (
            (found.kind.value, base + found.object, first + found.call, call_id(found.earlier_call))
            for found in lifetimes.violations
        ),
    )


def forget_objects(connection: sqlite3.Connection, capture_id: int) -> None:
    """Remove the objects of a capture that is read again."""
    owned = "SELECT id FROM objects WHERE capture = ?"
    connection.execute(f"DELETE FROM violations WHERE object IN ({owned})", (capture_id,))
    connection.execute("DELETE FROM objects WHERE capture = ?", (capture_id,))
