"""A query first indexes the project's new captures if that is quick and allowed; otherwise it says so."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.base.words import format_local_time
from framedex.commands.inputs import new_captures
from framedex.commands.main import cli
from framedex.index import Index, Store
from tests.indexer.commands.small_captures import unpack_capture
from tests.indexer.commands.test_index_again import FRAMEDEX
from tests.indexer.privileges import run_without_privileges
from tests.once import made_once
from tests.running import run

QUESTION = ("calls", "--json")


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments or QUESTION)


def recorded(folder: Path, name: str = "20260101-000000-1", pid: int = 1) -> Path:
    return unpack_capture(folder / ".framedex" / "captures" / name, pid=pid)


def captures_of(folder: Path) -> list[str]:
    with Index.open(folder / ".framedex" / "index.db") as index:
        return [Path(capture.path).name for capture in index.captures()]


def definitions_of(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / ".framedex" / "index.db")) as connection:
        return connection.execute("SELECT name, path, line FROM functions_readable WHERE how IS NOT NULL").fetchall()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_question_creates_the_index(project: Path) -> None:
    recorded(project)
    result = ask()
    assert result.exit_code == 0 and "Indexing 1 recording: 20260101-000000-1." in result.stderr
    assert captures_of(project) == ["20260101-000000-1"]


def test_a_question_finds_the_definitions_that_index_finds(project: Path) -> None:
    (capture,) = made_once("fleet-training", lambda folder: (run("costs/training.py", folder=folder).capture,))
    shutil.copytree(capture, project / ".framedex" / "captures" / capture.name)
    ask()
    found = definitions_of(project)
    ask("index")
    assert found and found == definitions_of(project)


def test_a_question_without_recordings_says_how_to_record(project: Path) -> None:
    result = ask()
    assert result.exit_code == 1 and "framedex run SCRIPT" in result.stderr
    assert not (project / ".framedex").exists()


def test_the_next_question_indexes_a_later_recording(project: Path) -> None:
    recorded(project)
    ask()
    recorded(project, "20260101-000001-2", 2)
    assert "Indexed 1 new recording: 20260101-000001-2." in ask().stderr
    assert "recording" not in ask().stderr
    assert len(captures_of(project)) == 2


def test_a_recording_in_a_subfolder_is_indexed_with_its_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(project)
    ask()
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    recorded(project / "sub", "20260101-000001-2", 2)
    assert "Indexed 1 new recording" in ask().stderr
    assert len(captures_of(project)) == 2 and not (project / "sub" / ".framedex" / "index.db").exists()


@pytest.mark.parametrize("reason", ["setting", "size", "locked"])
def test_without_automatic_indexing_a_new_recording_is_reported(
    project: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project)
    ask()
    recorded(project, "20260101-000001-2", 2)
    if reason == "setting":
        (project / "framedex.toml").write_text("[editor]\nauto-index = false\n")
    if reason == "size":
        monkeypatch.setattr(new_captures, "MAX_SIZE_BYTES", 0)
    if reason == "locked":
        with Store(project / ".framedex" / "index.db") as store, store.transaction():
            result = ask()
    else:
        result = ask()
    assert result.exit_code == 0
    assert "1 newer recording is not indexed: `framedex index`." in result.stderr
    assert captures_of(project) == ["20260101-000000-1"]


def test_a_named_index_gets_only_captures_of_its_own_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(project)
    ask()
    index = project / ".framedex" / "index.db"
    shutil.copy(index, project / "archive.db")
    other = project / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    recorded(other, "20260101-000001-2", 2)
    for named in (index, project / "archive.db"):
        assert "recording" not in ask("--index", str(named), *QUESTION).stderr
    recorded(project, "20260101-000002-3", 3)
    assert "Indexed 1 new recording: 20260101-000002-3." in ask("--index", str(index), *QUESTION).stderr


def test_damaged_captures_alone_create_no_index(project: Path) -> None:
    damaged = project / ".framedex" / "captures" / "20260101-000002-3"
    damaged.mkdir(parents=True)
    (damaged / "capture.json").write_text("{")
    result = ask()
    assert result.exit_code == 1 and "There is no index here" in result.stderr
    assert not (project / ".framedex" / "index.db").exists()


def test_copies_and_damaged_captures_are_neither_added_nor_reported(project: Path) -> None:
    first = recorded(project)
    ask()
    shutil.copytree(first, first.with_name("20260101-000001-2"))
    damaged = first.with_name("20260101-000002-3")
    damaged.mkdir()
    (damaged / "capture.json").write_text("{")
    result = ask()
    assert result.exit_code == 0 and "recording" not in result.stderr
    assert captures_of(project) == ["20260101-000000-1"]


def test_an_unwritable_index_answers_with_a_note(project: Path) -> None:
    recorded(project)
    ask()
    recorded(project, "20260101-000001-2", 2)
    for path in (project / ".framedex", *(project / ".framedex").glob("index.db*")):
        path.chmod(0o555)
    done = run_without_privileges([*FRAMEDEX, *QUESTION])
    assert done.returncode == 0 and "1 newer recording is not indexed" in done.stderr
    assert captures_of(project) == ["20260101-000000-1"]


@pytest.mark.parametrize("has_index", [True, False])
def test_captures_lists_unindexed_recordings_and_keep_and_rm_accept_them(project: Path, has_index: bool) -> None:
    if has_index:
        recorded(project)
        ask()
    (project / "framedex.toml").write_text("[editor]\nauto-index = false\n")
    kept, removed = (recorded(project, f"20260101-00000{number}-2", 1 + number) for number in (1, 2))
    listed = [row for row in json.loads(ask("captures", "--json").stdout)["captures"] if row["id"] is None]
    assert [row["path"] for row in listed] == [str(kept), str(removed)]
    assert f"  -  {format_local_time(listed[0]['started'])}  not indexed, " in ask("captures").stdout
    assert ask("captures", "keep", kept.name).exit_code == 0
    assert "Skipped 1 capture under protection (20260101-000001-2)" in ask("captures", "rm", "all", "--dry-run").stderr
    assert ask("captures", "rm", "--all-but", "1").stdout.count("not indexed") == 0
    done = ask("captures", "rm", removed.name)
    assert done.exit_code == 0 and done.stderr.splitlines()[-1].startswith("Removed 1 capture. Freed ")
    assert kept.is_dir() and not removed.exists()
    assert ask("captures", "rm", str(kept)).exit_code == 0 and not kept.exists()
    missing = ask("captures", "rm", kept.name)
    assert missing.exit_code == 1 and (f"There is no capture {kept.name}" in missing.stderr) is has_index


def test_without_an_index_a_question_names_recordings_it_may_not_index(project: Path) -> None:
    recorded(project)
    (project / "framedex.toml").write_text("[editor]\nauto-index = false\n")
    result = ask()
    assert result.exit_code == 1
    assert "There is no index yet: 1 recording is not indexed.\n  Run `framedex index`." in result.stderr


@pytest.mark.parametrize("newest", ["project", "subfolder"])
def test_the_index_with_the_newest_recording_of_the_file_answers(
    project: Path, newest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "sub"
    inner.mkdir()
    for number, folder in enumerate((project, inner), 1):
        is_newest = (folder == inner) is (newest == "subfolder")
        started = 2_000_000_000_000_000_000 if is_newest else 1_900_000_000_000_000_000
        captured = unpack_capture(folder / ".framedex/captures/20260101-000000-1", pid=number, started_unix_ns=started)
        assert ask("--index", str(folder / ".framedex" / "index.db"), "index", str(captured)).exit_code == 0
    monkeypatch.chdir(inner)
    answering = {"project": "../.framedex/index.db", "subfolder": ".framedex/index.db"}[newest]
    found = ask("where", "one_put.py:12")
    assert found.stdout.splitlines()[0].endswith(f", in the index {answering}")
    assert ("--index" in found.stderr) is (newest == "project")  # so that the ids in the answer are found
    assert ask("calls").stdout.splitlines()[0].endswith(", in the index .framedex/index.db")
    named = ask("--index", ".framedex/index.db", "where", "one_put.py:12")
    assert named.exit_code == 0 and "in the index" not in named.stdout
    later = recorded(project, "20330601-000001-9", 9)
    metadata = json.loads((later / "capture.json").read_text()) | {"started_unix_ns": 2_000_000_001_000_000_000}
    (later / "capture.json").write_text(json.dumps(metadata))
    assert ask("where", "one_put.py:12").stdout.splitlines()[0].endswith(", in the index ../.framedex/index.db")
    (project / ".framedex" / "index.db").write_text("damaged")
    damaged = ask("where", "one_put.py:12")
    assert damaged.exit_code == 0 and f"The index {project}/.framedex/index.db was left out: " in damaged.stderr


def test_an_index_behind_a_link_out_of_the_project_is_not_written(project: Path) -> None:
    other = project / "other"
    recorded(other)
    assert ask("--index", str(other / ".framedex/index.db"), "index", str(other / ".framedex/captures")).exit_code == 0
    hostile = project / "hostile"
    recorded(hostile, "20260101-000001-2", 2)
    (hostile / ".framedex" / "index.db").symlink_to(other / ".framedex" / "index.db")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(hostile)
        assert "1 newer recording is not indexed" in ask().stderr
    assert captures_of(other) == ["20260101-000000-1"]
