"""The binaries of native frames, with the source of their names. Names are read again if a better source appears."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.names import drop_unused_names
from framedex.index.write.records import NamedBinary, NamesFrom
from framedex.model import BinaryId


def known_binaries(connection: sqlite3.Connection) -> list[NamedBinary]:
    """Return the binaries of the frames, with the source of their names."""
    rows = connection.execute("SELECT path, build_id, fingerprint, content, named_from FROM modules ORDER BY id")
    return [NamedBinary(BinaryId(*row[:3]), row[3], NamesFrom(row[4])) for row in rows]


def note_binaries(connection: sqlite3.Connection, named: Iterable[NamedBinary]) -> set[BinaryId]:
    """Store the source of each binary's names; return the known binaries whose source has improved."""
    risen = set()
    for binary, content, source in named:
        row = connection.execute(
            "SELECT id, named_from FROM modules WHERE path = ? AND build_id = ? AND fingerprint = ?", binary
        ).fetchone()
        if row is None:
            connection.execute(
                "INSERT INTO modules(path, build_id, fingerprint, content, named_from) VALUES (?, ?, ?, ?, ?)",
                (*binary, content, source),
            )
            continue
        if row[1] < source:
            risen.add(binary)
        connection.execute(
            "UPDATE modules SET named_from = max(named_from, ?), content = iif(content = '', ?, content) WHERE id = ?",
            (source, content, row[0]),
        )
    return risen


def drop_nameless(connection: sqlite3.Connection, functions: Sequence[int]) -> None:
    """Delete those of these functions that no frame refers to any more, because their frames got better names."""
    unused = f"id {IN_JSON} AND NOT EXISTS (SELECT 1 FROM frames WHERE function = functions.id)"
    gone = connection.execute(f"DELETE FROM functions WHERE {unused} RETURNING short_name", (json_list(functions),))
    names = [name for (name,) in gone.fetchall()]
    connection.executemany(
        "UPDATE names SET is_recorded = 0 WHERE name = ?1 COLLATE NOCASE AND name = ?1"
        " AND NOT EXISTS (SELECT 1 FROM functions WHERE short_name = ?1)",
        [(name,) for name in names],
    )
    drop_unused_names(connection, names)
