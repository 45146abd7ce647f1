"""The texts of source files that an index stores: how the column `text` of `file_versions` is packed."""

from __future__ import annotations

import sqlite3
import zlib


def packed_text(content: bytes) -> bytes:
    """The content as the column stores it."""
    return zlib.compress(content)


def stored_text(connection: sqlite3.Connection, blob: str) -> bytes | None:
    """The content that git names `blob`; None if the index does not store it, or damaged."""
    query = "SELECT text FROM file_versions WHERE blob = ? AND text IS NOT NULL"
    row = connection.execute(query, (blob,)).fetchone()
    try:
        return None if row is None else zlib.decompress(row[0])
    except (zlib.error, TypeError):
        return None
