"""Data pulled from a store gives the same index as the captures themselves."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model import CallFilter
from tests.indexer.fleet.fleets import JOB, add_to_store, copy_capture, job, run_query
from tests.once import made_once
from tests.pythons import ROOT
from tests.running import run

# Each call with its stack, without data that differs between indexes.
TOLD = {
    "calls": "SELECT c.id - p.first_call, c.parent - p.first_call, c.start, r.boundary, r.function, r.thread,"
    " c.duration, c.error, r.arguments FROM calls c JOIN calls_readable r ON r.id = c.id JOIN captures p"
    " ON p.id = c.capture ORDER BY p.started, c.id",
    "stacks": "SELECT c.id - p.first_call, s.chain, s.depth, s.function, s.path, s.line, s.how FROM calls c"
    " JOIN captures p ON p.id = c.capture JOIN stacks_readable s ON s.stack = c.stack"
    " ORDER BY p.started, c.id, s.chain, s.depth",
    "kinds": "SELECT b.boundary, b.name, t.label, k.error, k.calls, k.duration, k.own_duration, k.longest,"
    " k.longest_call - p.first_call, k.first_call - p.first_call, k.latest_call - p.first_call FROM call_kinds k"
    " JOIN captures p ON p.id = k.capture JOIN boundaries b ON b.id = k.boundary JOIN threads t ON t.id = k.thread"
    " ORDER BY p.started, k.first_call",
    "frames": "SELECT language, function, path, line, how, inlined, is_returning, count(*) FROM frames_readable"
    " GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7",
    "releases": "SELECT DISTINCT module, name, symbol, release, is_release_known FROM functions WHERE calls > 0"
    " ORDER BY 1, 2, 3",
    "user lines": "SELECT path, line, function, count(*) FROM user_lines_readable GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "transfers": "SELECT direction, moved_by, is_implicit, path, line, function, transfers, bytes, unsized"
    " FROM transfers_readable ORDER BY path, line, function, direction, transfers",
    "compiles": "SELECT milliseconds, path, line, function, error FROM compiles_readable ORDER BY call",
    "durations": "SELECT b.name, t.label, d.bucket, d.calls FROM call_durations d JOIN boundaries b"
    " ON b.id = d.boundary JOIN threads t ON t.id = d.thread ORDER BY 1, 2, 3, 4",
}

PULL = ("fleet", "pull", "--store")


def framedex(*arguments: object) -> Result:
    """The output of the command line."""
    return CliRunner().invoke(cli, list(map(str, arguments)))


def told(index: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The calls, stacks and frames of an index."""
    with closing(sqlite3.connect(index)) as connection:
        return {name: connection.execute(query).fetchall() for name, query in TOLD.items()}


def read(index: Path, captures: Sequence[Path]) -> dict[str, list[tuple[Any, ...]]]:
    """The contents of an index of captures."""
    with Store(index) as store:
        ingest_captures(store, captures, [], SilentProgress())
    return told(index)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with both ranks."""
    store = tmp_path_factory.mktemp("pulling") / "store"
    add_to_store(store, *job())
    return store


def test_a_pulled_index_has_the_same_calls_stacks_and_frames(store: Path, tmp_path: Path) -> None:
    """Ranks that ended differently, and a program that compiles, moves data and waits."""
    (training,) = made_once("fleet-training", lambda folder: (run("costs/training.py", folder=folder).capture,))
    everything = Path(shutil.copytree(store, tmp_path / "store"))
    add_to_store(everything, training)

    pulled = framedex("fleet", "pull", "--store", everything, "-o", tmp_path / "pulled" / "index.db")

    assert pulled.exit_code == 0, pulled.output
    expected = read(tmp_path / "read.db", [*job(), training])
    found = told(tmp_path / "pulled" / "index.db")
    assert all(expected[name] for name in TOLD)
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert {"single", "ranked"} <= {how for *_, how in expected["stacks"]}


def test_verbs_answer_on_pulled_captures(store: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    framedex("fleet", "pull", "--store", store, "-o", index, "--rank", 0)

    with Index.open(index) as opened:
        (capture,) = opened.captures()
        call = opened.calls.find(CallFilter(function="PJRT_Client_Create"), 1)[0].id
        (path, line) = next(
            (frame.location.path, frame.location.line)
            for frame in opened.calls.trace(call).frames  # type: ignore[union-attr]
            if frame.location is not None and frame.location.path.endswith("endings.py")
        )
    assert "PJRT_Client_Create" in framedex("--index", index, "calls", "--function", "PJRT_Client_Create").stdout
    assert "endings.py" in framedex("--index", index, "trace", call).stdout
    assert "PJRT_Client_Create" in framedex("--index", index, "where", f"{path}:{line}").stdout
    assert "WrapClientAroundCApi" in framedex("--index", index, "callers", "PJRT_Client_Create").stdout
    for verb in ("summary", "compiles", "transfers", "waits", "memory"):
        assert "incomplete" not in framedex("--index", index, verb).stderr
    assert "shared" in framedex("--index", index, "captures").stdout
    assert capture.calls > 0


@pytest.mark.parametrize("form", ["collapsed", "scip", "csv", "jsonl", "parquet"])
def test_an_export_of_pulled_captures_is_that_of_the_captures(
    store: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other formats also name the binaries, which a store does not have."""
    monkeypatch.chdir(ROOT)
    framedex("fleet", "pull", "--store", store, "-o", tmp_path / "pulled.db")
    read(tmp_path / "read.db", job())

    exports = {}
    for index in ("pulled", "read"):
        output = tmp_path / index
        result = framedex("--index", f"{output}.db", "export", "--format", form, "--capture", "all", "-o", output)
        assert result.exit_code == 0, result.output
        files = sorted(output.iterdir()) if output.is_dir() else [output]
        exports[index] = [file.read_bytes() for file in files]

    assert exports["pulled"] == exports["read"]


def test_pulling_twice_changes_nothing_and_grown_captures_are_replaced(store: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    framedex("fleet", "pull", "--store", store, "-o", index)
    before = told(index)

    again = framedex("fleet", "pull", "--store", store, "-o", index)

    assert again.stdout.count("already indexed") == again.stdout.count(f" of {JOB}, rank ") == 2
    assert told(index) == before
    assert len(list((tmp_path / "captures").iterdir())) == 2


@pytest.mark.exhaustive(keep=["one rank", "ids"])
@pytest.mark.parametrize(
    ("chosen", "ranks"),
    [
        pytest.param(("--job", JOB), 2, id="job"),
        pytest.param(("--since", "2000-01-01", "--rank", 1), 1, id="one rank"),
        pytest.param(("--capture", "FIRST", "--capture", "SECOND"), 2, id="ids"),
        pytest.param(("--day", "DAY"), 2, id="day"),
        pytest.param(("--since", "DAY"), 2, id="since"),
    ],
)
def test_captures_are_selected_by_job_rank_id_or_day(
    chosen: Sequence[object], ranks: int, store: Path, tmp_path: Path
) -> None:
    (first, day), (second, _) = run_query(store, "SELECT capture, day FROM captures")
    named = {"FIRST": first, "SECOND": second[:8], "DAY": day}

    options = [named.get(str(each), each) for each in chosen]
    done = framedex(*PULL, store, "-o", tmp_path / "index.db", "--json", *options)

    assert done.exit_code == 0 and len(json.loads(done.stdout)["imported"]) == ranks


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("--job", "none"), "None of the 2 captures in the store matches"),
        (("--capture", "x"), "no capture whose id begins"),
        (("--capture", ""), "2 captures whose ids begin"),
        (("--day", "yesterday"), "is not a date"),
    ],
)
def test_an_empty_selection_is_refused(chosen: Sequence[str], expected: str, store: Path, tmp_path: Path) -> None:
    done = framedex(*PULL, store, "-o", tmp_path / "index.db", *chosen)

    assert done.exit_code == 1 and expected in done.stderr


def test_a_job_with_an_undecodable_name_is_pulled_and_dropped_by_its_displayed_name(tmp_path: Path) -> None:
    store, name = tmp_path / "store", os.fsdecode(b"train \xff")
    capture = copy_capture(job()[0], tmp_path)
    told = json.loads((capture / "capture.json").read_text())
    (capture / "capture.json").write_text(json.dumps(told | {"job": {"FRAMEDEX_JOB": name}}))
    add_to_store(store, capture)

    pulled = framedex("fleet", "pull", "--store", store, "--job", name, "-o", tmp_path / "index.db")
    dropped = framedex("fleet", "drop", "--store", store, "--job", name, "--yes")

    assert pulled.exit_code == 0, pulled.output
    assert "1 capture of 1 job" in dropped.stdout
    assert run_query(store, "SELECT * FROM captures") == []


KILLED = """
import os, sys
from click.testing import CliRunner
from framedex.commands.main import cli
from framedex.index.write.capture import CaptureWriter
from framedex.shared.archive import ArchiveWriter
place = {"writing": (ArchiveWriter, "finish"), "reading": (CaptureWriter, "add"), "ending": (CaptureWriter, "finish")}
owner, name = place[sys.argv[3]]
setattr(owner, name, lambda *_, **__: os.kill(os.getpid(), 9))
CliRunner().invoke(cli, ["fleet", "pull", "--store", sys.argv[1], "-o", sys.argv[2]])
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("moment", ["writing", "reading", "ending"])
def test_a_killed_pull_leaves_no_partial_index(moment: str, store: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    done = subprocess.run([sys.executable, "-c", KILLED, store, index, moment], timeout=120, cwd=ROOT, check=False)
    assert done.returncode == -9
    if index.exists():
        with closing(sqlite3.connect(index)) as connection:
            assert connection.execute("SELECT count(*) FROM captures").fetchone() == (0,)

    assert framedex("fleet", "pull", "--store", store, "-o", index).exit_code == 0

    assert told(index)["calls"] == read(tmp_path / "read.db", job())["calls"]


@pytest.mark.exhaustive(keep=["name-calls/1"])
@pytest.mark.parametrize(
    ("column", "expected"),
    [("name", "calls/1"), ("name", "capture.json"), ("data", b"no batch"), ("capture", "f" * 32)],
)
def test_an_inconsistent_segment_is_reported(column: str, expected: object, tmp_path: Path) -> None:
    add_to_store(tmp_path / "store", job()[0])
    (file,) = (tmp_path / "store" / "segments").rglob("*.parquet")
    rows = parquet.read_table(file, partitioning=None)
    place = rows.schema.get_field_index(column)
    values = pa.array([expected] * len(rows), rows.schema.field(column).type)
    parquet.write_table(rows.set_column(place, column, values), file)

    done = framedex("fleet", "pull", "--store", tmp_path / "store", "-o", tmp_path / "index.db")

    assert done.exit_code == 1 and "framedex: " in done.stderr and "Traceback" not in done.stderr
    with Index.open(tmp_path / "index.db") as index:
        assert not list(index.captures())


@pytest.mark.parametrize("kept", [1, None], ids=["half", "nothing"])
def test_an_incomplete_segment_is_reported_and_not_pulled(kept: int | None, tmp_path: Path) -> None:
    add_to_store(tmp_path / "store", job()[0])
    (file,) = (tmp_path / "store" / "segments").rglob("*.parquet")
    rows = parquet.read_table(file, partitioning=None)
    file.unlink()
    if kept is not None:
        parquet.write_table(rows.slice(0, kept), file)

    done = framedex("fleet", "pull", "--store", tmp_path / "store", "-o", tmp_path / "index.db")

    assert done.exit_code == 1 and "framedex: " in done.stderr and "Traceback" not in done.stderr
    with Index.open(tmp_path / "index.db") as index:
        assert not list(index.captures())
