"""Cached index data is valid until the index changes, or a file that the data describes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index.read.query_cache import QueryCache


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE things(value)")
        connection.execute("INSERT INTO things VALUES (1)")
    connection.close()
    yield path


@pytest.fixture
def reader(database: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(database, isolation_level=None)
    yield connection
    connection.close()


def test_a_value_is_computed_once_while_nothing_changes(reader: sqlite3.Connection) -> None:
    memory, made = QueryCache(), []
    for _ in range(2):
        with memory.read_snapshot(reader):
            memory.get_or_compute("thing", lambda: made.append(1))
    assert made == [1]


def test_a_value_is_recomputed_after_a_write(database: Path, reader: sqlite3.Connection) -> None:
    memory = QueryCache()

    def count_things() -> int:
        with memory.read_snapshot(reader):
            return memory.get_or_compute(
                "things", lambda: int(reader.execute("SELECT count(*) FROM things").fetchone()[0])
            )

    assert count_things() == 1
    with closing(sqlite3.connect(database, isolation_level=None)) as writer, writer:
        writer.execute("INSERT INTO things VALUES (2)")
    writer.close()
    assert count_things() == 2


def test_one_answer_sees_one_state_of_the_index(database: Path, reader: sqlite3.Connection) -> None:
    with QueryCache().read_snapshot(reader), closing(sqlite3.connect(database, isolation_level=None)) as writer, writer:
        before = reader.execute("SELECT count(*) FROM things").fetchone()
        writer.execute("INSERT INTO things VALUES (2)")
        assert reader.execute("SELECT count(*) FROM things").fetchone() == before
    writer.close()


@pytest.mark.parametrize("change", ["write", "remove", "make"])
def test_a_value_is_recomputed_after_a_file_it_depends_on_changed(
    reader: sqlite3.Connection, tmp_path: Path, change: str
) -> None:
    source = tmp_path / "source.py"
    if change != "make":
        source.write_text("before")
    memory = QueryCache()

    def size() -> int | None:
        status = memory.find_file(str(source))
        return None if status is None else status.size

    def describe_size() -> str:
        with memory.read_snapshot(reader):
            return memory.get_or_compute("description", lambda: f"{memory.get_or_compute('size', size)} bytes")

    before = describe_size()
    source.unlink() if change == "remove" else source.write_text("it is longer now")
    assert describe_size() != before


def test_nothing_is_cached_without_a_transaction() -> None:
    memory, made = QueryCache(), []
    memory.get_or_compute("thing", lambda: made.append(1))
    memory.get_or_compute("thing", lambda: made.append(1))
    assert made == [1, 1]
