"""The check of an index that no seal vouches for."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from framedex.index.file.soundness import is_unsound


def test_an_index_that_cannot_be_sealed_is_checked_once_for_each_state(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    statements: list[str] = []
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        connection.set_trace_callback(statements.append)
        assert not is_unsound(connection, index, may_seal=False)
        assert not is_unsound(connection, index, may_seal=False)
        assert statements == ["PRAGMA integrity_check(1)"]
        os.utime(index, ns=(0, 0))
        assert not is_unsound(connection, index, may_seal=False)
        assert len(statements) == 2
