"""A compacted store has the same contents for readers and writers, at every moment."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture
from framedex.fleet.compacting import CompactionResult, compact
from framedex.fleet.dropping import drop
from framedex.fleet.store_root import StoreRoot
from framedex.fleet.sweeping import SweepResult
from tests.indexer.fleet.fleets import (
    JOB,
    TABLES,
    add_to_store,
    content,
    copy_capture,
    files,
    job,
    run_query,
    start_adding_process,
)
from tests.once import made_once
from tests.pythons import ROOT

MOST = 480
"""Calls per part in most of these tests: captures have about 90."""


def ranks() -> list[Path]:
    """Captures of eight ranks: copies of a complete one and of an incomplete one."""
    return list(made_once("fleet-ranks", _copies))


def _copies(folder: Path) -> list[Path]:
    made = []
    for number in range(8):
        (folder / str(number)).mkdir()
        copy = copy_capture(job()[number % 2], folder / str(number))
        told = json.loads((copy / "capture.json").read_text())
        began = told["started_unix_ns"] + (number * 7 % 8) * 10**9
        told |= {"identity": f"{number:016}", "pid": 10**8 + number, "started_unix_ns": began}
        (copy / "capture.json").write_text(json.dumps(told))
        made.append(copy)
    return made


def run_compaction(store: str | Path, most: int = MOST) -> CompactionResult:
    """The outcome of compacting a store."""
    return compact(StoreRoot(str(store)), SilentProgress(), most)


def age(store: Path) -> None:
    """Age the marks in a store by an hour."""
    for mark in (store / "going").glob("*"):
        os.utime(mark, (0, 0))
    for file in store.rglob("*.parquet"):
        os.utime(file, (0, 0))


def compact_and_sweep(store: Path, most: int = MOST) -> None:
    """Compact a store, and remove unneeded files."""
    run_compaction(store, most)
    age(store)
    run_compaction(store, most)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of eight ranks, with files as added."""
    store = tmp_path_factory.mktemp("clean") / "store"
    assert all(isinstance(done, AddedCapture) for done in add_to_store(store, *ranks()))
    return store


@pytest.fixture
def store(clean: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(clean, tmp_path / "store"))


def test_compacting_many_files_keeps_all_rows_visible(clean: Path, store: Path) -> None:
    before = len(files(store))

    done = run_compaction(store)

    assert (done.captures, done.parts_before, done.parts) == (8, 8, 2) and done.swept.waiting > 0
    assert content(store) == content(clean)
    age(store)
    swept = run_compaction(store).swept
    assert swept.files == done.swept.waiting and swept.waiting == 0
    assert content(store) == content(clean)
    after = files(store)
    assert len(after) < before / 2 and not [name for name in after if name.startswith("going/")]
    assert sum(name.startswith("captures/") for name in after) == 1
    assert sum(name.startswith("calls/") for name in after) == 2
    assert run_compaction(store).swept.files == 0 and files(store) == after


def test_calls_are_sorted_by_time_and_found_by_capture(store: Path) -> None:
    compact_and_sweep(store)

    told = []
    for file in sorted((store / "calls").rglob("*.parquet")):
        rows = parquet.read_table(file, partitioning=None).to_pylist()
        captures = list(dict.fromkeys(row["capture"] for row in rows))
        told.append((rows[0]["start"], captures))
        assert [row["call"] for row in rows] == [n for each in captures for n in range(_calls(rows, each))]
    began = dict(run_query(store, "SELECT capture, started FROM captures"))
    in_order = [began[capture] for _, captures in sorted(told) for capture in captures]
    assert in_order == sorted(in_order) and len(in_order) == 8


def _calls(rows: Sequence[dict[str, object]], capture: str) -> int:
    return sum(row["capture"] == capture for row in rows)


def test_the_compacted_files_do_not_depend_on_order(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    add_to_store(one, *ranks())
    compact_and_sweep(one, 10**6)
    for captures in (ranks()[5:], ranks()[2:4], [*ranks()[4:5], *ranks()[:2]]):
        add_to_store(other, *captures)
        run_compaction(other, 10**6)
    age(other)
    run_compaction(other, 10**6)

    assert files(one) == files(other)


def test_a_compacted_capture_is_recognised_when_added_again(store: Path) -> None:
    compact_and_sweep(store)
    before = files(store)

    again = add_to_store(store, *ranks())

    assert [isinstance(done, AddedCapture) and not done.is_new for done in again] == [True] * 8
    assert files(store) == before


@pytest.mark.exhaustive
def test_a_grown_capture_replaces_its_compacted_rows(clean: Path, tmp_path: Path) -> None:
    cut = copy_capture(ranks()[0], tmp_path)
    (stream,) = cut.glob("thread-0.fdx")
    stream.write_bytes(stream.read_bytes()[:8192])
    store = tmp_path / "store"
    add_to_store(store, *ranks()[1:], cut)
    compact_and_sweep(store, 10**6)
    assert content(store) != content(clean)

    (grown,) = add_to_store(store, ranks()[0])

    assert isinstance(grown, AddedCapture) and grown.is_new
    assert content(store)["calls"] == content(clean)["calls"]
    (refused,) = add_to_store(store, cut)
    assert isinstance(refused, FramedexError) and "The store keeps the longer one" in refused.remedy
    compact_and_sweep(store, 10**6)
    assert content(store) == content(clean)
    add_to_store(tmp_path / "whole", *ranks())
    compact_and_sweep(tmp_path / "whole", 10**6)
    assert files(store) == files(tmp_path / "whole")


def test_a_compacted_capture_with_lost_calls_is_reported(clean: Path, store: Path) -> None:
    """Removing its row would remove those of the others: the suggestion re-adds all of them."""
    compact_and_sweep(store, 10**6)
    next((store / "calls").rglob("*.parquet")).unlink()

    (refused, *_) = add_to_store(store, *ranks())

    assert isinstance(refused, FramedexError) and "lacks its calls" in refused.message
    command = shlex.split(refused.remedy.partition("`")[2].partition("`")[0])
    assert command[:3] == ["framedex", "fleet", "drop"]
    dropped = CliRunner().invoke(cli, command[1:])
    assert dropped.exit_code == 0, dropped.output
    assert all(isinstance(done, AddedCapture) and done.is_new for done in add_to_store(store, *ranks()))
    assert content(store) == content(clean)


def test_rows_in_both_old_and_new_files_count_once(clean: Path, store: Path, tmp_path: Path) -> None:
    """Leftovers of several processes that compacted different captures, with nothing removed yet."""
    for many in (2, 3, 8):
        part = tmp_path / str(many)
        add_to_store(part, *ranks()[:many])
        run_compaction(part, 10**6)
        for name in files(part):
            if not name.startswith("going/"):
                (store / name).parent.mkdir(parents=True, exist_ok=True)
                (store / name).write_bytes((part / name).read_bytes())
        assert content(store) == content(clean)
    compact_and_sweep(store, 10**6)
    assert content(store) == content(clean)
    assert sum(name.startswith("c") for name in files(store)) == 3


# A separate process: a killed process must not share pytest's state.
KILLED = """
import os, sys
from pathlib import Path
from framedex.fleet.compacting import compact
from framedex.fleet.store_root import StoreRoot
from framedex.fleet.sweeping import SweepResult
from framedex.base.progress import SilentProgress
left = [int(sys.argv[3])]
whole = getattr(StoreRoot, sys.argv[2])
def do_or_die(self, *arguments):
    if not left[0]:
        os.kill(os.getpid(), 9)
    left[0] -= 1
    return whole(self, *arguments)
setattr(StoreRoot, sys.argv[2], do_or_die)
compact(StoreRoot(sys.argv[1]), SilentProgress(), int(sys.argv[4]))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("operation", ["_rename", "remove"])
def test_a_killed_compaction_leaves_a_valid_store_and_resumes(operation: str, clean: Path, tmp_path: Path) -> None:
    """Each written file is the last one in turn, and so is each removed file."""
    killed = 0
    while True:
        store = tmp_path / str(killed)
        add_to_store(store, *ranks())
        if operation == "remove":
            run_compaction(store)
            age(store)
        command = [sys.executable, "-c", KILLED, str(store), operation, str(killed), str(MOST)]
        status = subprocess.run(command, timeout=120, cwd=ROOT, check=False).returncode
        assert content(store) == content(clean), killed
        age(store)
        for part in store.rglob("*.part"):
            os.utime(part, (0, 0))
        compact_and_sweep(store)
        assert content(store) == content(clean), killed
        assert not list(store.rglob("*.part")) and not list(store.glob("going/*"))
        if status == 0:
            break
        assert status == -9
        killed += 1 if operation == "_rename" else 5
    assert killed > 5


@pytest.mark.exhaustive
def test_concurrent_readers_and_adders_see_all_captures(clean: Path, tmp_path: Path) -> None:
    """Two processes compact repeatedly, one adds captures, and one reads."""
    store = tmp_path / "store"
    add_to_store(store, *ranks()[:2])
    over = threading.Event()

    def compact_repeatedly() -> int:
        many = 0
        while not over.is_set():
            run_compaction(store, 10**6 if many % 2 else MOST)
            many += 1
        return many

    def read() -> list[int]:
        found = []
        while not over.is_set():
            ((captures, calls, told),) = run_query(
                store,
                "SELECT count(*), (SELECT count(*) FROM calls), sum(calls) FROM captures",
            )
            assert calls == told
            found.append(captures)
        return found

    with ThreadPoolExecutor() as pool:
        working = [pool.submit(compact_repeatedly), pool.submit(compact_repeatedly)]
        reading = pool.submit(read)
        try:
            with start_adding_process(store, ranks()[2:5]) as one, start_adding_process(store, ranks()[4:]) as other:
                for process in (one, other):
                    _, errors = process.communicate(timeout=120)
                    assert process.returncode == 0, errors
        finally:
            over.set()
        assert all(work.result() for work in working)
        seen = reading.result()
    assert seen == sorted(seen)
    assert content(store) == content(clean)
    compact_and_sweep(store)
    assert content(store) == content(clean)


class Hours:
    """A clock for a store that ages marks by an hour if they were set before all current users started."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._began: dict[int, int] = {}
        self.done = threading.Condition()

    @contextmanager
    def register_user(self) -> Iterator[None]:
        """Register a current user: a context manager."""
        self._began[threading.get_ident()] = time.time_ns()
        try:
            yield
        finally:
            del self._began[threading.get_ident()]
            with self.done:
                self.done.notify_all()

    def age_marks(self) -> None:
        """Age marks by an hour, also for files that were not rewritten since."""
        before = min([*self._began.values(), time.time_ns()]) - 5 * 10**7  # file times have a coarse resolution
        for mark in self._store.glob("going/*.json"):
            with suppress(FileNotFoundError):
                marked = mark.stat().st_mtime_ns
                if marked >= before:
                    continue
                for name in json.loads(mark.read_bytes()):
                    with suppress(FileNotFoundError), (self._store / name).open("rb") as file:
                        if os.fstat(file.fileno()).st_mtime_ns <= marked:
                            os.utime(file.fileno(), (0, 0))
                os.utime(mark, (1, 1))


@pytest.mark.exhaustive
def test_readers_and_adders_miss_nothing_while_files_are_removed(clean: Path, tmp_path: Path) -> None:
    """Two processes compact and remove repeatedly, one reads, and captures are added one by one."""
    store = tmp_path / "store"
    add_to_store(store, *ranks()[:2])
    hours = Hours(store)
    over = threading.Event()
    removed: list[int] = []
    seen: list[int] = []

    def compact_repeatedly() -> None:
        while not over.is_set():
            hours.age_marks()
            with hours.register_user():
                removed.append(run_compaction(store).swept.files)

    def read() -> None:
        while not over.is_set():
            with hours.register_user():
                query = "SELECT count(*), (SELECT count(*) FROM calls), sum(calls) FROM captures"
                ((captures, calls, told),) = run_query(store, query)
                assert calls == told
                seen.append(captures)

    with ThreadPoolExecutor() as pool:
        working = [pool.submit(compact_repeatedly), pool.submit(compact_repeatedly), pool.submit(read)]

        def is_repeated(files: int, reads: int) -> bool:
            return any(work.done() for work in working) or (sum(removed) >= files and len(seen) >= reads)

        try:
            for capture in ranks()[2:]:
                with hours.register_user():
                    assert isinstance(add_to_store(store, capture)[0], AddedCapture)
                until = sum(removed) + 1, len(seen) + 2
                with hours.done:
                    assert hours.done.wait_for(partial(is_repeated, *until), timeout=60)
        finally:
            over.set()
        for work in working:
            work.result()
    assert seen == sorted(seen) and {*seen} >= {3, 4, 5, 6, 7, 8}
    assert content(store) == content(clean)
    compact_and_sweep(store)
    assert content(store) == content(clean)


def test_readers_without_framedex_find_each_call_once(clean: Path, store: Path) -> None:
    """The examples of docs/how-to/fleet.md, while old and new files coexist."""
    run_compaction(store)

    captures = pd.read_parquet(store / "captures", partitioning=None)
    assert len(captures) == 16
    captures = captures.sort_values(["calls", "shared_by"]).drop_duplicates("capture", keep="last")
    parts = [store / "calls" / part for part in captures["part"].unique()]
    calls = pd.read_parquet(parts, partitioning=None)

    assert (
        len(parts) == 2
        and len(calls) == captures["calls"].sum() == run_query(clean, "SELECT count(*) FROM calls")[0][0]
    )
    assert not calls.duplicated(["capture", "call"]).any()


def test_the_grace_period_uses_the_clock_of_the_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store's clock is two hours behind the compacting process."""
    modified = StoreRoot.modification_time

    def by_the_store(place: StoreRoot, name: str) -> datetime | None:
        when = modified(place, name)
        return when and when - timedelta(hours=2)

    monkeypatch.setattr(StoreRoot, "modification_time", by_the_store)
    writing = store / "captures" / "x.0123456789abcdef.part"
    waiting = run_compaction(store).swept.waiting
    writing.touch()

    StoreRoot(str(store)).clean("captures")
    swept = run_compaction(store).swept

    assert waiting > 0 and swept.files == 0 and swept.waiting == waiting
    assert writing.exists()
    age(store)
    os.utime(writing, (0, 0))
    StoreRoot(str(store)).clean("captures")
    assert run_compaction(store).swept.files == waiting and not writing.exists()


def test_a_file_marked_again_during_its_grace_period_stays_marked(store: Path) -> None:
    """Files rewritten after they were marked: the new mark has the same content and name."""

    def swept_later() -> SweepResult:
        for mark in (store / "going").glob("*"):
            os.utime(mark, (0, 0))
        return run_compaction(store).swept

    waiting = run_compaction(store).swept.waiting
    swept_later()
    (mark,) = (store / "going").glob("*")

    swept = swept_later()

    assert (swept.files, swept.waiting) == (0, waiting)
    assert [*(store / "going").glob("*")] == [mark] and mark.stat().st_mtime > 0


def test_a_concurrent_adder_does_not_rely_on_marked_files(tmp_path: Path) -> None:
    """Unneeded stacks, and a capture added within the hour that needs them."""
    store = tmp_path / "store"
    add_to_store(store, ranks()[0])
    (capture,) = (store / "captures").rglob("*.parquet")
    capture.unlink()
    run_compaction(store)  # marks all files

    add_to_store(store, ranks()[0])
    age(store)
    run_compaction(store)

    assert content(store) == content(_alone(tmp_path, ranks()[0]))


def _alone(folder: Path, *captures: Path) -> Path:
    add_to_store(folder / "alone", *captures)
    return folder / "alone"


@pytest.mark.exhaustive(keep=["None-calls"])
@pytest.mark.parametrize("table", ["calls", "call_kinds"])
@pytest.mark.parametrize("damage", [lambda rows: rows.slice(3), lambda rows: rows.slice(0, 0), None])
def test_a_capture_without_its_calls_is_reported_and_not_replaced(
    damage: Callable[[parquet.ParquetFile], object] | None, table: str, store: Path, tmp_path: Path
) -> None:
    """A capture of another day is compacted with its own day."""
    others = [copy_capture(ranks()[each], tmp_path / str(each)) for each in (0, 2)]
    for number, capture in enumerate(others):
        told = json.loads((capture / "capture.json").read_text())
        told |= {"identity": f"{number + 8:016}", "started_unix_ns": told["started_unix_ns"] + 9 * 86400 * 10**9}
        (capture / "capture.json").write_text(json.dumps(told))
    add_to_store(store, *others)
    file = sorted((store / table).rglob("*.parquet"))[3]
    if damage is None:
        file.unlink()
    else:
        parquet.write_table(damage(parquet.read_table(file, partitioning=None)), file)
    before = {name: told for name, told in files(store).items() if name.startswith(("captures", "stacks", "frames"))}

    for _ in range(2):
        done = CliRunner().invoke(cli, ["fleet", "compact", "--store", str(store)])
        assert done.exit_code == 1 and f"Remove {store}/captures/" in done.stderr, done.output
        assert done.stdout == "10 captures in 9 parts, merged from 10\n" or done.stdout == "10 captures in 9 parts\n"
        age(store)

    day = next(name for name in before if name.startswith("captures")).split("/")[1]
    after = files(store)
    assert all(after[name] == told for name, told in before.items() if name.split("/")[1] == day)
    (left,) = json.loads(CliRunner().invoke(cli, ["fleet", "compact", "--store", str(store), "--json"]).stdout)["left"]
    assert left["problem"] and left["remedy"]


@pytest.mark.exhaustive(keep=["captures-False"])
@pytest.mark.parametrize("is_all", [True, False])
@pytest.mark.parametrize("moment", ["calls", "captures"])
def test_a_capture_dropped_during_compaction_is_dropped(
    moment: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_all: bool
) -> None:
    """Other processes drop all of a day and job, or have dropped it and re-added some of it."""
    kept = ranks()[:2]
    add_to_store(tmp_path / "kept", *kept)
    put = StoreRoot.put
    dropped: list[int] = []

    def put_when_dropped(place: StoreRoot, name: str, file: Path) -> None:
        if name.startswith(moment) and not dropped:
            dropped.append(drop(place, None, JOB).files)
            if not is_all:
                add_to_store(store, *kept)
        put(place, name, file)

    monkeypatch.setattr(StoreRoot, "put", put_when_dropped)
    done = run_compaction(store)

    assert dropped[0] > 0 and not done.left
    assert content(store) == (content(tmp_path / "kept") if not is_all else {table: [] for table in TABLES})


def test_a_full_folder_is_reported_and_not_retried(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def full(*_: object) -> None:
        add_to_store(store, ranks()[0])
        tried.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("framedex.fleet.compacting.calls_writer", full)

    with pytest.raises(FramedexError, match="No space left") as caught:
        run_compaction(store)

    assert tried == [1] and "TMPDIR" in caught.value.remedy


@pytest.mark.exhaustive
def test_references_of_unreadable_rows_are_kept(clean: Path, store: Path) -> None:
    row = sorted((store / "captures").rglob("*.parquet"))[3]
    whole = row.read_bytes()
    row.write_bytes(whole[:100])
    compact_and_sweep(store)
    (calls,) = (store / "calls").rglob(row.name)
    assert calls.exists()

    row.write_bytes(whole)

    assert content(store) == content(clean)
    compact_and_sweep(store)
    assert content(store) == content(clean)


def test_foreign_files_are_not_changed(clean: Path, store: Path) -> None:
    foreign = next((store / "stacks").rglob("*.parquet")).parent / "foreign.parquet"
    foreign.write_bytes(b"PAR1")

    run_compaction(store)

    assert foreign.exists() and content(store) == content(clean)
