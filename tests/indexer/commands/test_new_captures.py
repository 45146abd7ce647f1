"""A question first indexes the project's new captures, if that is quick and allowed; otherwise it says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.inputs import new_captures
from framedex.commands.main import cli
from framedex.index import Index, Store
from tests.indexer.commands.small_captures import unpack_capture
from tests.indexer.commands.test_index_again import FRAMEDEX
from tests.indexer.privileges import run_without_privileges

QUESTION = ("calls", "--json")


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments or QUESTION)


def recorded(folder: Path, name: str = "20260101-000000-1", pid: int = 1) -> Path:
    return unpack_capture(folder / ".framedex" / "captures" / name, pid=pid)


def captures_of(folder: Path) -> list[str]:
    with Index.open(folder / ".framedex" / "index.db") as index:
        return [Path(capture.path).name for capture in index.captures()]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_question_creates_the_index(project: Path) -> None:
    recorded(project)
    result = ask()
    assert result.exit_code == 0 and "Indexing 1 recording: 20260101-000000-1." in result.stderr
    assert captures_of(project) == ["20260101-000000-1"]


def test_a_question_without_recordings_says_how_to_record(project: Path) -> None:
    result = ask()
    assert result.exit_code == 1 and "framedex run SCRIPT" in result.stderr
    assert not (project / ".framedex").exists()


def test_a_later_recording_is_indexed_by_the_next_question_and_only_by_that(project: Path) -> None:
    recorded(project)
    ask()
    recorded(project, "20260101-000001-2", 2)
    assert "Indexed 1 new recording: 20260101-000001-2." in ask().stderr
    assert "recording" not in ask().stderr
    assert len(captures_of(project)) == 2


def test_a_recording_of_a_subfolder_is_indexed_with_its_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(project)
    ask()
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    recorded(project / "sub", "20260101-000001-2", 2)
    assert "Indexed 1 new recording" in ask().stderr
    assert len(captures_of(project)) == 2 and not (project / "sub" / ".framedex" / "index.db").exists()


@pytest.mark.parametrize("reason", ["setting", "size", "locked"])
def test_otherwise_it_says_that_a_recording_is_not_indexed(
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


def test_an_index_that_the_command_line_names_gets_captures_of_its_own_project_only(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_damaged_captures_alone_make_no_index(project: Path) -> None:
    damaged = project / ".framedex" / "captures" / "20260101-000002-3"
    damaged.mkdir(parents=True)
    (damaged / "capture.json").write_text("{")
    result = ask()
    assert result.exit_code == 1 and "There is no index here" in result.stderr
    assert not (project / ".framedex" / "index.db").exists()


def test_a_copy_and_a_damaged_capture_are_neither_added_nor_reported(project: Path) -> None:
    first = recorded(project)
    ask()
    shutil.copytree(first, first.with_name("20260101-000001-2"))
    damaged = first.with_name("20260101-000002-3")
    damaged.mkdir()
    (damaged / "capture.json").write_text("{")
    result = ask()
    assert result.exit_code == 0 and "recording" not in result.stderr
    assert captures_of(project) == ["20260101-000000-1"]


def test_an_index_that_cannot_be_written_answers_with_a_note(project: Path) -> None:
    recorded(project)
    ask()
    recorded(project, "20260101-000001-2", 2)
    for path in (project / ".framedex", *(project / ".framedex").glob("index.db*")):
        path.chmod(0o555)
    done = run_without_privileges([*FRAMEDEX, *QUESTION])
    assert done.returncode == 0 and "1 newer recording is not indexed" in done.stderr
    assert captures_of(project) == ["20260101-000000-1"]
