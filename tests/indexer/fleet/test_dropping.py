"""Dropped captures disappear at one moment, with all data that only they need."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.base.errors import FramedexError
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture
from framedex.fleet.dropping import drop
from framedex.fleet.schema import MARKER
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet.fleets import add_to_store, content, copy_capture, files, job, run_query
from tests.indexer.fleet.test_compacting import age, run_compaction
from tests.once import made_once
from tests.pythons import ROOT

DAYS = ("2026-11-22", "2026-11-23", "2026-11-24")
JOBS = ("train", "serve")


def captures() -> dict[tuple[str, str], Path]:
    """A capture of each day and job."""
    made = made_once("fleet-days", _copies)
    return dict(zip([(day, name) for day in DAYS for name in JOBS], made, strict=True))


def _copies(folder: Path) -> list[Path]:
    made = []
    for number in range(6):
        (folder / str(number)).mkdir()
        copy = copy_capture(job()[number % 2], folder / str(number))
        told = json.loads((copy / "capture.json").read_text())
        began = 1795305600 * 10**9 + (number // 2) * 86400 * 10**9
        told |= {"identity": f"{number:016}", "started_unix_ns": began, "job": {"FRAMEDEX_JOB": JOBS[number % 2]}}
        (copy / "capture.json").write_text(json.dumps(told))
        made.append(copy)
    return made


def days_and_jobs(store: Path) -> set[tuple[str, str]]:
    """The days and jobs with captures in a store."""
    return set(run_query(store, "SELECT day, job FROM captures"))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all of them, which must not be changed."""
    store = tmp_path_factory.mktemp("clean") / "store"
    done = add_to_store(store, *captures().values())
    assert all(isinstance(each, AddedCapture) for each in done) and days_and_jobs(store) == set(captures())
    return store


@pytest.fixture
def store(clean: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(clean, tmp_path / "store"))


@pytest.mark.exhaustive(keep=["2026-11-24-None-left0-False", "2026-11-23-train-left2-True"])
@pytest.mark.parametrize("is_together", [False, True])
@pytest.mark.parametrize(
    ("before", "name", "left"),
    [
        ("2026-11-24", None, [(DAYS[2], "train"), (DAYS[2], "serve")]),
        (None, "serve", [(day, "train") for day in DAYS]),
        ("2026-11-23", "train", [(DAYS[0], "serve"), *((day, name) for day in DAYS[1:] for name in JOBS)]),
    ],
)
def test_a_store_after_a_drop_equals_one_without_the_capture(
    before: str | None, name: str | None, left: list[tuple[str, str]], *, is_together: bool, store: Path, tmp_path: Path
) -> None:
    if is_together:
        run_compaction(store)
        age(store)
        run_compaction(store)

    swept = drop(StoreRoot(str(store)), before, name)

    assert swept.files > 0 and days_and_jobs(store) == set(left)
    add_to_store(tmp_path / "never", *(captures()[each] for each in left))
    assert content(store) == content(tmp_path / "never")
    age(store)
    assert drop(StoreRoot(str(store)), before, name).waiting == 0
    if is_together:
        run_compaction(tmp_path / "never")
        age(tmp_path / "never")
        run_compaction(tmp_path / "never")
    never = files(tmp_path / "never")
    assert {each: told for each, told in files(store).items() if not each.startswith("drops/")} == never


def test_a_dropped_capture_counts_again_once_it_is_added_again(store: Path, tmp_path: Path) -> None:
    before = content(store)
    for _ in range(2):
        drop(StoreRoot(str(store)), None, "serve")
        (again,) = add_to_store(store, captures()[DAYS[0], "serve"])
        assert isinstance(again, AddedCapture) and again.is_new
        run_compaction(store)
        assert days_and_jobs(store) == {(DAYS[0], "serve"), *((day, "train") for day in DAYS)}
    add_to_store(store, *captures().values())
    assert content(store) == before
    assert len([name for name in files(store) if name.startswith("drops/")]) == 1


KILLED = """
import os, sys
from framedex.fleet.dropping import drop
from framedex.fleet.store_root import StoreRoot
left = [int(sys.argv[2])]
def do_or_die(whole):
    def done(self, *arguments):
        if not left[0]:
            os.kill(os.getpid(), 9)
        left[0] -= 1
        return whole(self, *arguments)
    return done
StoreRoot.remove, StoreRoot._rename = do_or_die(StoreRoot.remove), do_or_die(StoreRoot._rename)
drop(StoreRoot(sys.argv[1]), "2026-11-24", None)
"""


@pytest.mark.exhaustive
def test_a_killed_drop_is_complete_or_has_no_effect(tmp_path: Path) -> None:
    left = {(DAYS[2], name) for name in JOBS}
    killed = 0
    while True:
        store = tmp_path / str(killed)
        add_to_store(store, *captures().values())
        command = [sys.executable, "-c", KILLED, str(store), str(killed)]
        status = subprocess.run(command, timeout=120, cwd=ROOT, check=False).returncode
        assert days_and_jobs(store) == (left if killed else set(captures())), killed
        ((calls, said),) = run_query(store, "SELECT (SELECT count(*) FROM calls), sum(calls) FROM captures")
        assert calls == said
        for part in store.rglob("*.part"):
            part.unlink()
        drop(StoreRoot(str(store)), "2026-11-24", None)
        age(store)
        drop(StoreRoot(str(store)), "2026-11-24", None)
        assert days_and_jobs(store) == left
        assert {name.split("/")[1] for name in files(store) if "/day=" in name} == {f"day={DAYS[2]}"}
        if status == 0:
            break
        assert status == -9
        killed += 1
    assert killed > 10


def test_captures_added_during_a_drop_are_kept(store: Path) -> None:
    """A capture dropped before it was completely added stays dropped, and counts when it is added again."""
    place = StoreRoot(str(store))
    name = next(name for name in files(store) if name.startswith(f"captures/day={DAYS[0]}"))
    row = (store / name).read_bytes()
    drop(place, DAYS[1], None)

    (store / name).write_bytes(row)  # files of earlier processes arrive only now

    assert days_and_jobs(store) == {(day, each) for day in DAYS[1:] for each in JOBS}
    drop(place, DAYS[1], None)
    assert not (store / name).exists()


def test_concurrent_compaction_restores_nothing(store: Path, tmp_path: Path) -> None:
    """Another process compacts rows that it read before they were dropped."""
    run_compaction(store)
    kept = {name: (store / name).read_bytes() for name in files(store)}
    drop(StoreRoot(str(store)), DAYS[1], None)
    for name, told in kept.items():
        (store / name).write_bytes(told)

    assert days_and_jobs(store) == {(day, each) for day in DAYS[1:] for each in JOBS}


def test_the_verb_lists_the_captures_and_drops_them_after_confirmation(store: Path) -> None:
    def framedex(*arguments: str, status: int = 0) -> Result:
        done = CliRunner().invoke(cli, ["fleet", "drop", "--store", str(store), *arguments])
        assert done.exit_code == status, done.output
        return done

    shown = framedex("--before", DAYS[2], "--job", "train")
    assert f"2 captures of 1 job, {DAYS[0]} to {DAYS[1]}" in shown.stdout and "--yes" in shown.stderr
    assert days_and_jobs(store) == set(captures())
    document = json.loads(framedex("--before", DAYS[2], "--job", "train", "--yes", "--json").stdout)
    assert document["captures"]["captures"] == 2 and document["swept"]["files"] > 0
    assert len(days_and_jobs(store)) == 4
    assert "No captures to drop" in framedex("--before", DAYS[2], "--job", "train").stderr
    assert "Removed" in framedex("--job", "train", "--yes").stderr
    assert "Give --before" in framedex(status=2).stderr
    assert "is not a date" in framedex("--before", "yesterday", status=1).stderr


DEEP = "[" * 200_000


@pytest.mark.exhaustive(keep=["{"])
@pytest.mark.parametrize(
    "expected",
    [
        "{",
        DEEP,
        json.dumps({"before": None, "job": None, "generation": 1 << 70}),
        json.dumps({"before": None, "job": None, "generation": True}),
    ],
)
def test_a_malformed_drop_is_reported(expected: str, store: Path) -> None:
    (store / "drops").mkdir()
    (store / "drops" / "x.json").write_text(expected)
    with pytest.raises(FramedexError, match="is not a valid record of a drop"):
        run_query(store, "SELECT 1")
    (refused, *_) = add_to_store(store, *captures().values())
    assert isinstance(refused, FramedexError)


def test_a_malformed_mark_has_no_effect(store: Path) -> None:
    (store / "going").mkdir()
    (store / "going" / "x.json").write_text(DEEP)

    run_compaction(store)

    assert days_and_jobs(store) == set(captures())


def test_a_store_of_an_unknown_version_is_reported(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text(DEEP)
    with pytest.raises(FramedexError, match="no version"):
        run_query(tmp_path, "SELECT 1")
