"""User SQL on an index: read-only, with limits on memory and rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.index.ask.sql import read_views, run_query
from tests.indexer.recorded import build_project

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    project = build_project(tmp_path_factory.mktemp("project"), library)
    project.ingest().close()
    return project.index


def test_every_view_can_be_read(index: Path) -> None:
    views = read_views(index)

    assert views.columns == ("view", "columns")
    assert "calls_readable" in {name for name, _ in views.rows}
    for name, columns in views.rows:
        assert run_query(index, f"SELECT * FROM {name!s}", 1).columns == tuple(str(columns).split(", "))


def test_rows_are_fetched_on_demand(index: Path) -> None:
    found = run_query(index, "SELECT id FROM calls ORDER BY id", 3)

    assert (found.columns, found.rows, found.has_more) == (("id",), ((1,), (2,), (3,)), True)
    assert not run_query(index, "SELECT id FROM calls", 4).has_more


def test_arguments_can_be_queried_as_json(index: Path) -> None:
    found = run_query(index, "SELECT count(*) FROM calls_readable c, json_each(c.arguments), json_tree(c.arguments)", 3)

    assert found.rows[0][0] != 0


def test_only_reading_is_allowed(index: Path, tmp_path: Path) -> None:
    cases: list[str] = [
        "DELETE FROM captures",
        "INSERT INTO captures (id) VALUES (9)",
        "CREATE TEMP TABLE mine (x)",
        "ATTACH DATABASE '{elsewhere}' AS other",
        "VACUUM INTO '{elsewhere}'",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('{elsewhere}')",
        "BEGIN IMMEDIATE",
        "SELECT 1; DELETE FROM captures",
        "REINDEX",
    ]
    for statement in cases:
        elsewhere, before = tmp_path / "elsewhere.db", index.read_bytes()
        with pytest.raises(FramedexError, match=r"(The query was rejected|Invalid query)"):
            run_query(index, statement.format(elsewhere=elsewhere), 10)

        assert not elsewhere.exists()
        assert index.read_bytes() == before


def test_functions_with_side_effects_are_refused(index: Path) -> None:
    """SQLite marks these as direct-only: `fts3_tokenizer` reads and sets function addresses of the process."""
    with closing(sqlite3.connect(":memory:")) as connection:
        unsafe = connection.execute("SELECT name, narg FROM pragma_function_list WHERE flags & 0x80000").fetchall()

    assert "load_extension" in dict(unsafe)
    for name, count in (*unsafe, *((name.upper(), count) for name, count in unsafe)):
        with pytest.raises(FramedexError, match="not authorized"):
            run_query(index, f"SELECT {name}({', '.join(['NULL'] * max(count, 0))})", 10)


@pytest.mark.exhaustive(keep=["SELECT zeroblob(2000000)"])
@pytest.mark.parametrize(
    "statement",
    [f"{ENDLESS} SELECT x, zeroblob(1000000) FROM n ORDER BY 1", "SELECT zeroblob(2000000)"],
)
def test_memory_is_bounded(index: Path, statement: str) -> None:
    with pytest.raises(FramedexError, match="needs more than 256 MiB of memory"):
        run_query(index, statement, 10)


def test_results_are_bounded(index: Path) -> None:
    found = run_query(index, f"{ENDLESS} SELECT zeroblob(1000000) FROM n", 1_000_000)

    assert found.has_more
    assert len(found.rows) == 8


def test_a_malformed_query_is_reported(index: Path) -> None:
    cases: list[str] = ["", "nothing", "SELECT no_such FROM captures", "SELECT ?", "SELECT '\0'", 'SELECT "\x1b[31m']
    cases += ["SELECT * FROM no_such_\x1b[31m", "SELECT x.\u202ea FROM captures"]
    for statement in cases:
        with pytest.raises(FramedexError, match="Invalid query") as raised:
            run_query(index, statement, 10)
        assert raised.value.remedy
        assert str(raised.value).replace("\n", " ").isprintable()
