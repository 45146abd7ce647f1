"""Captures are added to a store completely and once, whatever happens meanwhile."""

from __future__ import annotations

import json
import mmap
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.errors import FramedexError
from framedex.captures import read_capture
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture, add_captures
from framedex.fleet.marks import read_marked_names
from framedex.fleet.prepared_queries import PREPARED_QUERIES
from framedex.fleet.schema import MARKER
from framedex.fleet.store_queries import StoreConnection
from framedex.fleet.store_root import StoreRoot
from framedex.fleet.sweeping import sweep
from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures
from tests.indexer.fleet.fleets import (
    JOB,
    add_to_store,
    content,
    copy_capture,
    files,
    job,
    names,
    run_query,
    start_adding_process,
)
from tests.pythons import ROOT


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to which one process has added both ranks."""
    store = tmp_path_factory.mktemp("clean") / "store"
    assert all(isinstance(done, AddedCapture) and done.is_new for done in add_to_store(store, *job()))
    return store


def test_a_store_contains_the_calls_of_its_captures(clean: Path) -> None:
    for rank, path in enumerate(job()):
        capture = read_capture(path)
        rows = run_query(
            clean,
            "SELECT c.call, c.start - p.started, c.duration, c.boundary, c.function, c.error, c.arguments, p.job,"
            f" p.host FROM calls c JOIN captures p USING (capture) WHERE p.rank = {rank} ORDER BY c.call",
        )
        calls = capture.calls
        functions = [capture.functions[place] for place in calls.function]
        duration = [None if each < 0 else each for each in calls.duration.tolist()]
        columns = (calls.start.tolist(), duration, functions, calls.error.tolist(), calls.arguments)
        assert len(rows) == len(functions) > 0
        for row, (number, (start, took, function, error, arguments)) in zip(
            rows, enumerate(zip(*columns, strict=True)), strict=True
        ):
            told = (number, start, took, function.boundary, function.name, error, arguments)
            assert row == (*told, JOB, capture.metadata.host)


def test_totals_of_kinds_equal_the_sums_of_their_calls(clean: Path) -> None:
    (different,) = run_query(
        clean,
        "WITH own AS (SELECT c.*, coalesce(c.duration, 0) - coalesce((SELECT sum(coalesce(i.duration, 0)) FROM calls i"
        "  WHERE i.capture = c.capture AND i.parent = c.call), 0) AS own FROM calls c),"
        " counted AS (SELECT capture, boundary, function, thread, stack, error, count(*) AS calls,"
        "  sum(coalesce(duration, 0)) AS duration, sum(own) AS own_duration, max(coalesce(duration, 0)) AS longest,"
        "  min(call) AS first_call, max(call) AS latest_call FROM own GROUP BY ALL)"
        " SELECT count(*) FROM (SELECT * EXCLUDE (longest_call) FROM call_kinds) k FULL JOIN counted c"
        " USING (capture, boundary, function, thread, stack, error, calls, duration, own_duration, longest, first_call,"
        " latest_call) WHERE k.capture IS NULL OR c.capture IS NULL",
    )

    assert different == (0,)


def test_stacks_have_the_names_and_lines_of_an_index(clean: Path, tmp_path: Path) -> None:
    """An index of the same capture has the same functions and exact lines for all frames."""
    with Store(tmp_path / "index.db") as store:
        ingest_captures(store, [job()[0]], [], SilentProgress())
    query = (
        "SELECT DISTINCT c.function, s.function, CASE WHEN s.how = 'exact' THEN s.path END,"
        " CASE WHEN s.how = 'exact' THEN s.line END FROM calls_readable c JOIN stacks_readable s ON s.stack = c.stack"
    )
    with closing(sqlite3.connect(tmp_path / "index.db")) as index:
        told = set(index.execute(query).fetchall())

    assert set(run_query(clean, f"{query} WHERE c.rank = 0")) == told
    lines = "SELECT DISTINCT u.path, u.line, u.function FROM user_lines_readable u"
    with closing(sqlite3.connect(tmp_path / "index.db")) as index:
        told = set(index.execute(lines).fetchall())
    assert set(run_query(clean, f"{lines} JOIN calls_readable c USING (stack) WHERE c.rank = 0")) == told


def test_shared_data_of_two_hosts_is_stored_once(clean: Path) -> None:
    for table in ("stacks", "frames"):
        ((rows, once),) = run_query(
            clean, f"SELECT count(*), count(DISTINCT id) FROM {table} {'WHERE depth = 0' * (table == 'frames')}"
        )
        assert rows == once > 0
    ((shared,),) = run_query(
        clean, "SELECT count(*) FROM (SELECT stack FROM call_kinds GROUP BY stack HAVING count(DISTINCT capture) = 2)"
    )
    assert shared > 0
    assert sum(name.startswith("frames/") for name in files(clean)) <= 2


def test_adding_a_capture_twice_changes_nothing(clean: Path, tmp_path: Path) -> None:
    before = files(clean)

    again = add_to_store(clean, *job(), copy_capture(job()[0], tmp_path))

    assert [isinstance(done, AddedCapture) and not done.is_new for done in again] == [True] * 3
    assert files(clean) == before


@pytest.mark.exhaustive
def test_concurrent_adds_of_one_capture_store_it_once(clean: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with start_adding_process(store, job()) as one, start_adding_process(store, job()[::-1]) as other:
        told = [process.communicate(timeout=120) for process in (one, other)]

    assert (one.returncode, other.returncode) == (0, 0), told
    assert content(store) == content(clean)
    assert not [name for name in files(store) if name.endswith(".part")]


# A separate process: a killed process must not share pytest's state. It names frames once, then forks for each kill.
KILLED = """
import os, sys
from pathlib import Path
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet.fleets import add_to_store
captures = [Path(path) for path in sys.argv[3:]]
add_to_store(Path(sys.argv[1], "whole"), *captures)
rename = StoreRoot._rename
for written in map(int, sys.argv[2].split()):
    child = os.fork()
    if child == 0:
        left = [written]
        def rename_or_die(self, part, path):
            if not left[0]:
                os.kill(os.getpid(), 9)
            left[0] -= 1
            rename(self, part, path)
        StoreRoot._rename = rename_or_die
        add_to_store(Path(sys.argv[1], str(written)), *captures)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
"""


@pytest.mark.exhaustive(keep=["calls and row"])
@pytest.mark.parametrize(
    "files_written", [pytest.param((4, 5), id="calls and row"), pytest.param(range(6), id="each file")]
)
def test_a_killed_add_leaves_nothing_visible_and_can_be_resumed(
    files_written: Sequence[int], clean: Path, tmp_path: Path
) -> None:
    """Each file is the last one in turn: the store's own, frames, stacks, kinds, calls, and the capture's row."""
    command = [sys.executable, "-c", KILLED, str(tmp_path), " ".join(map(str, files_written)), *map(str, job())]
    subprocess.run(command, check=True, timeout=120, cwd=ROOT)
    for written in files_written:
        store = tmp_path / str(written)
        (part,) = (name for name in files(store) if name.endswith(".part"))
        os.utime(store / part, (0, 0))
        if written:
            assert run_query(store, "SELECT * FROM captures") == run_query(store, "SELECT * FROM calls") == []

        assert all(isinstance(done, AddedCapture) and done.is_new for done in add_to_store(store, *job()))

        assert content(store) == content(clean)
        assert {*files(store)} == {*files(clean)}


def test_files_of_a_concurrent_writer_are_kept(tmp_path: Path) -> None:
    add_to_store(tmp_path / "store", job()[0])
    (calls,) = (tmp_path / "store").glob("calls/*/*")
    writing, foreign = calls / "x.parquet.0123456789abcdef.part", calls / "x.parquet.1.part"
    writing.touch()
    foreign.touch()
    os.utime(foreign, (0, 0))

    add_to_store(tmp_path / "store", job()[1])

    assert writing.exists() and foreign.exists()


@pytest.mark.exhaustive
def test_a_store_with_transient_failures_ends_in_the_same_state(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever operation fails, it is reported, leaves nothing half-written, and the same command continues."""
    store = tmp_path / "store"
    place = StoreRoot(str(store))
    failures = _failing(place, monkeypatch)
    told = []
    for _ in range(1000):
        try:
            done = [done for _, done in add_captures(place, job(), names(), SilentProgress())]
        except FramedexError as error:
            done = [error]
        told += [str(each) for each in done if isinstance(each, FramedexError)]
        if all(isinstance(each, AddedCapture) for each in done):
            break
    monkeypatch.undo()

    assert failures and all("cannot be" in each and "too slow" in each for each in told)
    assert content(store) == content(clean)


def _failing(place: StoreRoot, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make each operation fail at random, in two of ten cases, with its file partly written."""
    failures: list[str] = []
    chance = random.Random(7)

    def failing(name: str, whole: Callable[..., object]) -> Callable[..., object]:
        def fail_or_do(*arguments: object, **more: object) -> object:
            if chance.random() < 0.2:
                failures.append(name)
                if name == "put_file":
                    Path(str(arguments[1])).write_bytes(b"PAR1")
                raise TimeoutError(f"{name} was too slow")
            return whole(*arguments, **more)

        return fail_or_do

    for name in ("put_file", "pipe_file", "cat_file", "ls", "makedirs"):
        monkeypatch.setattr(place.files, name, failing(name, getattr(place.files, name)))
    return failures


def test_a_complete_capture_replaces_a_truncated_one_and_never_vice_versa(clean: Path, tmp_path: Path) -> None:
    cut = copy_capture(job()[0], tmp_path)
    (stream,) = cut.glob("thread-0.fdx")
    whole = stream.read_bytes()
    stream.write_bytes(whole[:8192])
    store = tmp_path / "store"
    (part,) = add_to_store(store, cut)
    assert isinstance(part, AddedCapture) and part.problems

    (grown, _) = add_to_store(store, *job())
    assert isinstance(grown, AddedCapture) and grown.is_new and grown.calls > part.calls
    assert content(store) == content(clean)
    assert sum(name.startswith("calls/") for name in files(store)) == 3  # another process may be using it now
    assert {name.partition("/")[0] for name in read_marked_names(StoreRoot(str(store)))} == {
        "captures",
        "calls",
        "call_kinds",
        "segments",
    }

    (refused,) = add_to_store(store, cut)
    assert isinstance(refused, FramedexError) and "The store keeps the longer one" in refused.remedy
    assert content(store) == content(clean)


def test_adding_again_restores_lost_calls(clean: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    add_to_store(store, *job())
    for table in ("calls", "call_kinds", "segments"):
        next((store / table).rglob("*.parquet")).unlink()

        again = add_to_store(store, *job())

        assert sorted(isinstance(done, AddedCapture) and done.is_new for done in again) == [False, True]
        assert content(store) == content(clean)


@pytest.mark.exhaustive
def test_a_pause_of_an_hour_between_two_files_loses_no_reference(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other processes mark unreferenced files, and remove them an hour later, before the row is written."""
    store = tmp_path / "store"
    put, now = StoreRoot.put, time.time
    hours: list[int] = []

    def put_and_sleep(place: StoreRoot, name: str, file: Path) -> None:
        put(place, name, file)
        if name.startswith("segments/") and not hours:
            sweep(place)
            for each in (*store.glob("going/*"), *store.rglob("*.parquet")):
                os.utime(each, (0, 0))
            hours.append(sweep(place).files)

    monkeypatch.setattr(StoreRoot, "put", put_and_sleep)
    monkeypatch.setattr(time, "time", lambda: now() + 3600 * 2 * len(hours))
    add_to_store(store, *job())

    assert hours[0] >= 5
    assert content(store) == content(clean)


def test_captures_with_forged_identities_stay_separate(tmp_path: Path) -> None:
    """Two captures with the same time, process and host are both added."""
    other = copy_capture(job()[0], tmp_path)
    metadata = other / "capture.json"
    told = json.loads(metadata.read_text())
    metadata.write_text(json.dumps(told | {"identity": "0" * 16}))

    done = add_to_store(tmp_path / "store", job()[0], other)

    ids = [each.origin.capture for each in done if isinstance(each, AddedCapture)]
    assert len({*ids}) == 2 and run_query(tmp_path / "store", "SELECT count(*) FROM captures") == [(2,)]


def test_a_capture_without_calls_is_stored(tmp_path: Path) -> None:
    """A folder whose name is a glob pattern, next to others that match it."""
    silent = copy_capture(job()[0], tmp_path)
    (silent / "thread-0.fdx").unlink()
    store = tmp_path / "store [1]*?" / "it's"

    done = add_to_store(store, silent, job()[1])

    assert [isinstance(each, AddedCapture) and each.calls > 0 for each in done] == [False, True]
    assert run_query(store, "SELECT calls FROM captures ORDER BY calls")[0] == (0,)
    assert run_query(store, "SELECT count(DISTINCT capture) FROM calls") == [(1,)]


@pytest.mark.exhaustive(keep=["4000000000000000000-2096-10-02-is in the future"])
@pytest.mark.parametrize(
    ("started", "day", "expected"),
    [(4 * 10**18, "2096-10-02", "is in the future"), ((1 << 63) - 1, "1970-01-01", "missing or impossible")],
)
def test_a_wrong_clock_is_reported_and_hides_no_other_capture(
    started: int, day: str, expected: str, tmp_path: Path
) -> None:
    wrong = copy_capture(job()[0], tmp_path)
    metadata = wrong / "capture.json"
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"started_unix_ns": started}))
    store = tmp_path / "store"

    add_to_store(store, wrong, *job())

    ((said,),) = run_query(store, f"SELECT problems FROM captures WHERE day = '{day}'")
    assert expected in said
    with StoreConnection(StoreRoot(str(store))) as connection:
        answer = connection.query(PREPARED_QUERIES["slowest"].sql)
    of_captures = {row[answer.columns.index("capture")] for row in answer.rows}
    assert of_captures <= {name for (name,) in run_query(store, f"SELECT capture FROM captures WHERE day <> '{day}'")}
    assert of_captures


def test_a_running_recording_is_skipped(tmp_path: Path) -> None:
    capture = copy_capture(job()[0], tmp_path)
    metadata = capture / "capture.json"
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"pid": os.getpid()}))
    with (capture / "thread-0.fdx").open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        (done,) = add_to_store(tmp_path / "store", capture)

    assert isinstance(done, FramedexError) and "still being written" in done.message


def test_folders_that_are_not_stores_are_not_changed(tmp_path: Path) -> None:
    theirs = {"notes.txt", "film.mkv.part", "x.0123456789abcdef.part"}
    for name in theirs:
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (0, 0))
    with pytest.raises(FramedexError, match="nor a framedex store"):
        add_to_store(tmp_path, job()[0])
    (tmp_path / MARKER).write_text(json.dumps({"format": "framedex-fleet", "version": 99}))
    with pytest.raises(FramedexError, match="version 99"):
        add_to_store(tmp_path, job()[0])
    (tmp_path / MARKER).write_text("[]")
    with pytest.raises(FramedexError, match="no version"):
        run_query(tmp_path, "SELECT 1")
    assert {*files(tmp_path)} == {*theirs, MARKER}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("", "'' is not a valid store address"),
        ("nowhere://x", "nowhere"),
        ("gs://bucket/x", "framedex[fleet-gcs]"),
        ("/proc/framedex/x", "cannot be created"),
    ],
)
def test_invalid_addresses_are_reported_with_a_remedy(
    address: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(FramedexError) as caught:
        add_to_store(address, job()[0])
    assert expected in str(caught.value) and caught.value.remedy


def test_the_verb_reports_the_outcome_of_each_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a capture and a damaged capture, next to two intact ones."""
    folder = tmp_path / "captures"
    folder.mkdir()
    for capture in job():
        copy_capture(capture, folder)
    (folder / "torn").mkdir()
    (folder / "torn" / "capture.json").write_text('{"format": "framedex-capture", "version": 3')
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("FRAMEDEX_STORE", str(tmp_path / "store"))

    done = CliRunner().invoke(cli, ["fleet", "add", str(folder), str(tmp_path / "empty")])

    assert done.exit_code == 1
    assert f" of {JOB}, rank 0: " in done.stdout and f" of {JOB}, rank 1: " in done.stdout
    assert "torn was not added. " in done.stderr and "empty was not added. " in done.stderr
    assert "Next: `framedex fleet query" in done.stderr

    again = CliRunner().invoke(cli, ["fleet", "add", str(folder), "--json"])
    document = json.loads(again.stdout)
    assert [each["is_new"] for each in document["captures"]] == [False, False]
    assert [Path(each["path"]).name for each in document["left_out"]] == ["torn"]
    assert again.exit_code == 1

    none = CliRunner().invoke(cli, ["fleet", "add", str(tmp_path / "empty")])
    assert none.exit_code == 1 and not none.stdout
