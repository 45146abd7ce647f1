"""Source texts in the index: compressed, and untrusted if the index came with a folder."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from framedex.index.file import values


def test_a_stored_text_larger_than_the_limit_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_MAX_TEXT_BYTES", 1000)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE file_versions(blob TEXT, text BLOB)")
        texts = (values.pack_text(b"a" * 1000), values.pack_text(b"a" * 1001), values.pack_text(b"")[:-1])
        connection.executemany("INSERT INTO file_versions VALUES (?, ?)", enumerate(texts))
        assert [values.read_stored_text(connection, str(row)) for row in range(3)] == [b"a" * 1000, None, None]
