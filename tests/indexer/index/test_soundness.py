"""Checking an index without a valid seal."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from framedex.index.file.soundness import is_inconsistent


def test_an_unsealable_index_is_checked_once_per_state(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    statements: list[str] = []
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        connection.set_trace_callback(statements.append)
        assert not is_inconsistent(connection, index, may_seal=False)
        assert not is_inconsistent(connection, index, may_seal=False)
        assert statements == ["PRAGMA integrity_check(1)"]
        os.utime(index, ns=(0, 0))
        assert not is_inconsistent(connection, index, may_seal=False)
        assert len(statements) == 2
