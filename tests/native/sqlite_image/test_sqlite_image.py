"""An integer table written as the bytes of an SQLite file: SQLite accepts it and reads the same values."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from framedex_native import _call_stream

WIDTHS = [bits for size in (7, 15, 23, 31, 47, 62) for bits in (2**size - 1, 2**size, -(2**size), -(2**size) - 1)]


def opened(*columns: np.ndarray) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(_call_stream.table_image(columns))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return connection


@pytest.mark.exhaustive(keep=["0", "1", "300000"])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5_000, 300_000])
def test_sqlite_reads_the_written_rows(rows: int) -> None:
    random = np.random.default_rng(rows)
    keys = np.cumsum(random.integers(1, 4, rows))
    values = random.integers(-(2**62), 2**62, rows) >> random.integers(0, 63, rows)
    flags = np.where(random.integers(0, 2, rows) > 0, 1, _call_stream.NULL)
    read = opened(keys, values, flags).execute("SELECT * FROM rows").fetchall()
    expected = zip(keys.tolist(), values.tolist(), (None if flag != 1 else 1 for flag in flags.tolist()), strict=True)
    assert read == list(expected)


def test_numbers_of_every_width_are_kept() -> None:
    values = np.array([0, 1, -1, 2**63 - 1, -(2**63) + 1, *WIDTHS], np.int64)
    keys = np.arange(1, len(values) + 1)
    assert opened(keys, values).execute("SELECT c1 FROM rows").fetchall() == [(value,) for value in values.tolist()]


@pytest.mark.exhaustive
def test_a_table_of_millions_of_rows_has_several_page_levels_and_is_sound() -> None:
    keys = np.arange(1, 5_000_001)
    connection = opened(keys, keys << 31)
    assert connection.execute("SELECT count(*), max(c0), sum(c1 >> 31 = c0) FROM rows").fetchone() == (5_000_000,) * 3
    assert connection.execute("SELECT c1 >> 31 FROM rows WHERE c0 = 4321987").fetchone() == (4321987,)


def test_rows_can_be_copied_into_a_table_of_another_database() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE calls(id INTEGER PRIMARY KEY, kind INTEGER)")
    connection.execute("ATTACH ':memory:' AS batch")
    first = 1
    for size in (1000, 300_000, 10, 0, 100_000):
        keys = np.arange(first, first + size)
        first += size
        connection.deserialize(_call_stream.table_image([keys, keys * 2]), name="batch")
        connection.execute("INSERT INTO calls SELECT * FROM batch.rows")
    assert connection.execute("SELECT count(*), sum(kind = 2 * id) FROM calls").fetchone() == (first - 1, first - 1)


def test_malformed_columns_are_refused() -> None:
    ones = np.ones(1, np.int64)
    for columns in ([], [ones] * 65, [ones, np.ones(2, np.int64)]):
        with pytest.raises(ValueError, match="column"):
            _call_stream.table_image(columns)
