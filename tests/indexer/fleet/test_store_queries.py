"""SQL queries on a store, and reading it without framedex."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import framedex_native
from framedex.base.errors import FramedexError
from framedex.commands.main import cli
from framedex.fleet.prepared_queries import PREPARED_QUERIES
from framedex.fleet.store_queries import StoreConnection
from framedex.fleet.store_root import StoreRoot
from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.programs.objects.moves import CALLBACK_RESULT
from tests.hiding import ANOTHER_SYSTEM, FUNCTIONS, python_without
from tests.indexer.fleet import changing
from tests.indexer.fleet.fleets import JOB, add_to_store, copy_capture, job, run_query
from tests.once import made_once
from tests.running import PROGRAMS, run

FAILING = "PJRT_Client_BufferFromHostBuffer:2=INTERNAL"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with both ranks, a program that misuses objects, and one that compiles."""
    folder = tmp_path_factory.mktemp("asked")
    others = []
    for program in ("misuse.py", "inside_jit.py"):
        (folder / program).mkdir()
        others.append(run(program, folder=folder / program).capture)
    add_to_store(folder / "store", *job(), *others)
    return folder / "store"


@pytest.mark.parametrize("name", PREPARED_QUERIES)
def test_every_prepared_query_links_back_to_calls(name: str, store: Path) -> None:
    with StoreConnection(StoreRoot(str(store))) as connection:
        answer = connection.query(PREPARED_QUERIES[name].sql)
        captures = {capture for (capture,) in connection.query("SELECT capture FROM captures").rows}
        stacks = {stack for (stack,) in connection.query("SELECT id FROM stacks").rows}
    assert name in ("problems", "changes", "waits") or answer.rows
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert all(row["capture"] in captures for row in rows)
    assert all(row["stack"] in stacks for row in rows if "stack" in row)


def test_lines_are_program_lines(store: Path) -> None:
    program = PROGRAMS / "endings.py"
    line = next(n for n, text in enumerate(program.read_text().splitlines(), 1) if "return jax.device_put" in text)

    (row,) = run_query(
        store,
        "SELECT sum(calls)::BIGINT, count(DISTINCT capture), min(rank), max(rank) FROM lines_readable"
        f" WHERE path = '{program}' AND line = {line} AND job = '{JOB}'"
        " AND function = 'PJRT_Client_BufferFromHostBuffer'",
    )

    assert row == (10, 2, 0, 1)


def test_the_slowest_lines_are_compared_with_the_previous_week(tmp_path: Path) -> None:
    """The same recording eight days ago: its lines took as long."""
    before = copy_capture(job()[0], tmp_path)
    metadata = before / "capture.json"
    told = json.loads(metadata.read_text())
    metadata.write_text(json.dumps(told | {"started_unix_ns": told["started_unix_ns"] - 8 * 86_400 * 10**9}))
    add_to_store(tmp_path / "store", before, job()[0])

    with StoreConnection(StoreRoot(str(tmp_path / "store"))) as connection:
        answer = connection.query(PREPARED_QUERIES["slowest"].sql)

    assert answer.rows
    for row in answer.rows:
        told = dict(zip(answer.columns, row, strict=True))
        assert told["microseconds_each"] == told["week_before"]


def test_lines_that_changed_with_jaxlib_are_reported(tmp_path: Path) -> None:
    """One recording with an earlier jaxlib, and two with a later one whose version sorts lower as text."""
    for number, version in enumerate(("0.9.2", "0.10.0", "0.10.0")):
        (tmp_path / str(number)).mkdir()
        copy = copy_capture(job()[min(number, 1)], tmp_path / str(number))
        told = json.loads((copy / "capture.json").read_text())
        launcher = json.dumps({"packages": {"jaxlib": version}})
        (copy / "capture.json").write_text(json.dumps(told | {"launcher": launcher, "identity": f"{number:016}"}))
        add_to_store(tmp_path / "store", copy)

    with StoreConnection(StoreRoot(str(tmp_path / "store"))) as connection:
        answer = connection.query(PREPARED_QUERIES["changes"].sql)

    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert rows and {(row["jaxlib_before"], row["jaxlib"]) for row in rows} == {("0.9.2", "0.10.0")}
    puts = [row for row in rows if row["function"] == "PJRT_Client_BufferFromHostBuffer"]
    assert sum(row["calls"] for row in puts) == sum(row["calls_before"] for row in puts) == 5


def test_lines_that_wait_and_transfer_are_reported(tmp_path: Path) -> None:
    (capture,) = made_once("fleet-training", lambda folder: (run("costs/training.py", folder=folder).capture,))
    add_to_store(tmp_path / "store", capture)
    with StoreConnection(StoreRoot(str(tmp_path / "store"))) as connection:
        moves, waits = (
            [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
            for answer in (connection.query(PREPARED_QUERIES[name].sql) for name in ("transfers", "waits"))
        )
    program = str(PROGRAMS / "costs" / "training.py")
    assert {"host to device", "device to host"} <= {row["direction"] for row in moves if row["path"] == program}
    assert {row["waits_in"] for row in waits if row["path"] == program} >= {"PJRT_Buffer_ToHostBuffer"}
    assert all(row["longest_milliseconds"] <= row["milliseconds"] for row in waits if row["waits"] == 1)


def test_host_callback_transfers_are_counted(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(framedex_native.ffi_startup_path())}
    add_to_store(tmp_path / "store", run("host_callbacks.py", folder=tmp_path, **environment).capture)
    functions = f"function = '{CALLBACK_RESULT}' AS is_result, function LIKE 'jax.%' AS is_callback"
    told = f"SELECT * FROM (SELECT {functions}, sum(calls)::BIGINT FROM call_kinds GROUP BY ALL) WHERE is_result"
    ((*_, results),) = run_query(tmp_path / "store", told)
    ((*_, callbacks),) = run_query(tmp_path / "store", told.replace("WHERE is_result", "WHERE is_callback"))
    moved = "SELECT direction, sum(transfers)::BIGINT, sum(milliseconds) FROM"
    of_callbacks = f"{moved} ({PREPARED_QUERIES['transfers'].sql}) WHERE path IS NULL GROUP BY 1 ORDER BY 1"

    ((out, operands, duration), (back, returned, _)) = run_query(tmp_path / "store", of_callbacks)

    assert callbacks and results
    assert (out, operands, duration) == ("device to host", callbacks, 0)
    assert (back, returned) == ("host to device", results)


def test_failed_transfers_count_no_bytes(tmp_path: Path) -> None:
    add_to_store(tmp_path / "store", job()[0])
    (kinds,) = (tmp_path / "store" / "call_kinds").rglob("*.parquet")
    rows = changing.read(kinds)

    def moved_by_puts() -> list[tuple[Any, ...]]:
        moved = "SELECT direction, sum(transfers)::BIGINT FROM"
        return run_query(tmp_path / "store", f"{moved} ({PREPARED_QUERIES['transfers'].sql}) GROUP BY 1 ORDER BY 1")

    assert moved_by_puts()[-1] == ("host to device", 5)

    has_failed = pc.equal(rows["function"], changing.TRANSFER)
    errors = pc.cast(pc.if_else(has_failed, 13, rows["error"]), rows["error"].type)
    changing.write(kinds, changing.replace_column(rows, "error", errors))

    assert "host to device" not in dict(moved_by_puts())


@pytest.mark.exhaustive
def test_failed_transfers_count_no_bytes_as_in_the_index(tmp_path: Path) -> None:
    capture = run("failing.py", folder=tmp_path, FRAMEDEX_DEVICES="3", FRAMEDEX_FAIL=FAILING).capture
    add_to_store(tmp_path / "store", capture)
    with Store(tmp_path / "index.db") as index:
        ingest_captures(index, [capture], [], SilentProgress())
    with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
        of_index = connection.execute(
            "SELECT path, line, direction, sum(transfers) FROM transfers_readable GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ).fetchall()
    with StoreConnection(StoreRoot(str(tmp_path / "store"))) as connection:
        (failed,) = connection.query(
            "SELECT count(*) FROM calls WHERE error <> 0 AND function = 'PJRT_Client_BufferFromHostBuffer'"
        ).rows
        told = connection.query(PREPARED_QUERIES["transfers"].sql)

    assert failed == (1,)
    columns = [told.columns.index(name) for name in ("path", "line", "direction", "transfers")]
    assert sorted(tuple(row[column] for column in columns) for row in told.rows) == of_index


@pytest.mark.exhaustive(keep=["two", "drop", "file"])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        pytest.param("SELECT 1; SELECT 2", "single SELECT", id="two"),
        ("COPY (SELECT 1) TO 'x.csv'", "single SELECT"),
        pytest.param("DROP TABLE captures", "single SELECT", id="drop"),
        ("SET enable_external_access = true", "single SELECT"),
        ("", "single SELECT"),
        pytest.param("SELECT * FROM read_csv('/etc/passwd')", "Permission", id="file"),
        ("SELECT * FROM nothing", "nothing"),
        ("SELEC 1", "SELEC"),
    ],
)
def test_a_query_reads_only_the_store(sql: str, expected: str, store: Path) -> None:
    with pytest.raises(FramedexError) as caught:
        run_query(store, sql)
    assert expected in str(caught.value)


def test_a_long_query_is_interrupted(store: Path) -> None:
    """A signal with the same handler as Ctrl-C, during DuckDB's work."""
    former = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with StoreConnection(StoreRoot(str(store))) as connection:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                connection.query("SELECT sum(hash(a.range + b.range)) FROM range(10_000_000) a, range(10_000_000) b")
            assert connection.query("SELECT count(*) FROM captures").rows == [(4,)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def test_foreign_files_are_skipped_and_reported(store: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "store"
    add_to_store(foreign, *job())
    rows = run_query(foreign, "SELECT * FROM stacks ORDER BY id")
    for table in ("captures", "frames", "stacks", "calls"):
        folder = next(path.parent for path in (foreign / table).rglob("*.parquet"))
        parquet.write_table(pa.table({"x": [1]}), folder / "foreign.parquet")
        (folder / "torn.parquet").write_bytes(b"PAR1")
    taken = pa.Table.from_pylist(
        [
            {
                "id": rows[0][0],
                "frames": ["f"],
                "python": [],
                "user_frame": "",
                "outcome": "merged",
                "is_truncated": False,
            }
        ]
    )
    parquet.write_table(taken, folder.parents[2] / "stacks" / folder.parent.name / folder.name / "taken.parquet")

    with StoreConnection(StoreRoot(str(foreign))) as connection:
        answer = connection.query("SELECT * FROM stacks ORDER BY id")

    assert answer.rows == rows
    assert len(answer.left_out) == 6 and all("is left out" in said for said in answer.left_out)


def test_a_store_is_read_without_framedex(store: Path) -> None:
    """The pandas, Polars and DuckDB examples of docs/how-to/fleet.md."""
    captures = pd.read_parquet(store / "captures", partitioning=None)
    calls = pd.read_parquet([store / "calls" / part for part in captures["part"]], partitioning=None)
    assert len(calls) == captures["calls"].sum() > 0
    assert calls.dtypes["start"] == "int64" and calls["start"].groupby(calls["capture"]).is_monotonic_increasing.all()

    lazy = pl.scan_parquet(store / "calls" / "**" / "*.parquet", hive_partitioning=False)
    counted = lazy.group_by("function").len().sort("function").collect().rows()
    assert counted == run_query(store, "SELECT function, count(*) FROM calls GROUP BY 1 ORDER BY 1")

    query = f"SELECT f.function FROM '{store}/stacks/**/*.parquet' s, unnest(s.frames) u(id)"
    query += f" JOIN '{store}/frames/**/*.parquet' f ON f.id = u.id GROUP BY 1 ORDER BY 1"
    assert duckdb.execute(query).fetchall() == run_query(
        store, "SELECT DISTINCT function FROM stacks_readable ORDER BY 1"
    )


@pytest.mark.exhaustive(keep=["duckdb"])
@pytest.mark.parametrize("library", ["duckdb", "fsspec", "pyarrow"])
def test_without_duckdb_the_error_names_the_package(library: str, store: Path) -> None:
    for verb in (["query"], ["add", str(job()[0])]):
        done = _asked_without((library,), [*verb, "--store", str(store)])

        assert done.returncode == 1
        assert done.stderr == (
            f"framedex: Fleet stores need {library}, which is not installed.\n"
            "  Install it: `pip install 'framedex[fleet]'`\n"
        )


def test_a_store_is_queried_on_an_unsupported_system(store: Path) -> None:
    done = _asked_without(ANOTHER_SYSTEM, ["query", "captures", "--json", "--store", str(store)], FUNCTIONS)

    assert len(json.loads(done.stdout)["rows"]) == 4, done.stderr


def _asked_without(
    modules: Sequence[str], arguments: list[str], functions: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    code = f"from framedex.commands.main import cli; cli({['fleet', *arguments]!r}, prog_name='framedex')"
    return subprocess.run(python_without(modules, code, functions), capture_output=True, text=True, timeout=60)


def test_the_verb_prints_text_and_json(store: Path) -> None:
    def run_verb(*arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(cli, ["fleet", "query", "--store", str(store), *arguments])
        assert done.exit_code == status, done.output
        return done.output

    listed = run_verb()
    assert all(name in listed for name in (*PREPARED_QUERIES, "calls_readable", "user_lines_readable"))
    assert "PROGRAMS" not in run_verb("captures") and JOB in run_verb("captures")
    document = json.loads(run_verb("captures", "--json"))
    assert document["sql"] == PREPARED_QUERIES["captures"].sql and len(document["rows"]) == 4
    assert run_verb("SELECT chr(10) || chr(27) || chr(92) AS told") == "told\n\\x0a\\x1b\\\n"
    assert JOB in run_verb("SELECT\n*\nFROM\tcaptures")
    assert "Did you mean 'compiles'" in run_verb("compile", status=1)
    assert "No rows" in run_verb("SELECT 1 WHERE false", status=1)
    assert "is not a framedex store" in CliRunner().invoke(cli, ["fleet", "query", "--store", str(store.parent)]).output
