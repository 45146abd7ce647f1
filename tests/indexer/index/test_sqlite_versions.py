"""Python's bundled SQLite version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.index.file import database


def reading(path: Path) -> sqlite3.Connection:
    return database.connect_reading(path, timeout_s=1.0)


def writing(path: Path) -> sqlite3.Connection:
    return database.connect_writing(path, database.LockTimeout())


@pytest.mark.parametrize("connect", [reading, writing])
def test_an_old_sqlite_is_reported_with_a_remedy(
    connect: Callable[[Path], sqlite3.Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_MIN_SQLITE_VERSION", (99, 1))
    with pytest.raises(FramedexError, match=rf"needs SQLite 99\.1 .* has {sqlite3.sqlite_version}") as caught:
        connect(tmp_path / "index.db")
    assert caught.value.remedy
    assert not list(tmp_path.iterdir())


def test_queries_use_no_newer_features() -> None:
    """Features of 3.38 that framedex once used."""
    sources = Path(database.__file__).parents[1]
    texts = [file.read_text() for pattern in ("*.py", "*.sql") for file in sources.rglob(pattern)]
    assert not [text for text in texts if "value ->> " in text]
