"""`framedex doctor`."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.indexer.privileges import run_without_privileges


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, [*arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose sources have a good file and a bad one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "good.py").write_text("def f():\n    g()\n")
    (tmp_path / "src" / "bad.cc").write_bytes(b"\0")
    assert run("index", "--source", "src")[0] == 0
    return tmp_path


def test_problems_are_counted_and_the_rest_is_told(project: Path) -> None:
    code, out, _ = run("doctor")
    assert code == 0
    assert f"source folder {project / 'src'}" in out
    assert "Python: 1 file with 1 definition, 1 of which call something" in out
    assert "1 file: It is a binary file and was not parsed." in out and "bad.cc" in out


def test_programs_get_the_same(project: Path) -> None:
    document = json.loads(run("doctor", "--json")[1])
    (problem,) = document["sources"]["problems"]
    assert (problem["count"], problem["examples"]) == (1, [str(project / "src" / "bad.cc")])
    assert document["captures"] == []


def test_a_folder_that_is_gone_is_said(project: Path) -> None:
    (project / "src").rename(project / "away")
    assert "(missing)" in run("doctor")[1]


def test_without_a_source_folder_the_next_step_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = run("doctor")
    assert code == 1 and "framedex index" in errors


def test_folders_that_cannot_be_read_are_counted(project: Path) -> None:
    (project / "src" / "locked").mkdir(mode=0)
    try:
        code = "from framedex.commands.main import cli; cli()"
        told = run_without_privileges([sys.executable, "-c", code, "doctor"])
        indexing = run_without_privileges([sys.executable, "-c", code, "index"])
    finally:
        (project / "src" / "locked").chmod(0o700)
    assert "1 folder: It cannot be read" in told.stdout and str(project / "src" / "locked") in told.stdout
    assert f"The folder {project / 'src' / 'locked'} cannot be read" in indexing.stdout


def test_files_that_were_not_read_yet_are_counted(project: Path) -> None:
    assert "has not been read yet" not in run("doctor")[1]
    (project / "src" / "new.py").write_text("def new():\n    pass\n")
    out = run("doctor")[1]
    assert "1 file: It has not been read yet" in out and str(project / "src" / "new.py") in out


def test_numbers_that_are_the_same_for_all_are_told(project: Path) -> None:
    for name, content in (("a.py", b"x = '\xff'\n"), ("b.py", b"xy = '\xff'\n"), ("large.cc", b"int x;\n" * 700_000)):
        (project / "src" / name).write_bytes(content)
    run("index")
    out = run("doctor")[1]
    assert "1 file: It is larger than 4 MiB" in out
    assert "2 files: It is not valid UTF-8 (first at byte …)" in out
