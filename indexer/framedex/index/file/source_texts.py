"""The source texts stored in an index: the packing of the column `text` of `file_versions`."""

from __future__ import annotations

import sqlite3
import zlib


def packed_text(content: bytes) -> bytes:
    """Return the content as packed in the column."""
    return zlib.compress(content)


def stored_text(connection: sqlite3.Connection, blob: str) -> bytes | None:
    """Return the content of a git blob; None if the index does not store it, or stores it damaged."""
    query = "SELECT text FROM file_versions WHERE blob = ? AND text IS NOT NULL"
    row = connection.execute(query, (blob,)).fetchone()
    try:
        return None if row is None else zlib.decompress(row[0])
    except (zlib.error, TypeError):
        return None
