"""In a deleted working folder, verbs that do not need it work, and others report it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexer.recorded import Project
from tests.running import plain_environment

IN_DELETED_FOLDER = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
# -P, since no framedex command has the working folder on its path: Python 3.13.0 could not import socket there.
FRAMEDEX = [sys.executable, "-P", "-c", "from framedex.commands.main import cli; cli()"]
DELETED = (
    "framedex: The working folder no longer exists.\n"
    "  Change to an existing folder: `cd FOLDER`, or `cd .` if it was created again.\n"
)
SYMBOL = "    @     0x7f1bb00a8eed        112  runtime::allocate()\n"


def run(folder: Path, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", IN_DELETED_FOLDER, "bash", *FRAMEDEX, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env=plain_environment() | environment,
    )


def test_a_log_with_absolute_paths_works_in_a_deleted_folder(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("x = 1\n")
    log = f'x\nb.py:1: note\n%0 = f() loc("{source}":1:3)\n'

    resolved = run(tmp_path, "resolve", stdin=log)
    explained = run(tmp_path, "explain", stdin=log)

    assert (resolved.returncode, resolved.stderr) == (0, DELETED)
    assert resolved.stdout == log.removesuffix("\n") + f" → {source}:1\n"
    assert (explained.returncode, explained.stderr.startswith(DELETED)) == (0, True)
    assert f"{source}:1\n" in explained.stdout


def test_a_log_without_frames_works_in_a_deleted_folder(tmp_path: Path) -> None:
    done = run(tmp_path, "resolve", stdin="loss=0.25\n")

    assert (done.returncode, done.stdout, done.stderr) == (0, "loss=0.25\n", "")


def test_a_named_index_works_in_a_deleted_folder(project: Project) -> None:
    project.ingest(project.library.parent)
    index = str(project.folder / ".framedex" / "index.db")

    done = run(project.folder, "--index", index, "resolve", stdin=f"b.py:1: note\n{SYMBOL}")

    assert (done.returncode, done.stderr) == (0, "")
    assert f" → {project.library_source}:10 [definition]\n" in done.stdout
    assert run(project.folder, "--index", index, "captures").returncode == 0


def test_an_absolute_path_opens_from_a_deleted_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()

    done = run(tmp_path, "open", f"{tmp_path}/a.py:3", FRAMEDEX_EDITOR="echo {file}:{line}")

    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/a.py:3\n")


def test_a_log_outside_the_deleted_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "run.log").write_text(f"{tmp_path}/a.py:1: note\n")

    assert f"{tmp_path}/a.py:1\n" in run(tmp_path, "explain", "../run.log").stdout


@pytest.mark.exhaustive(keep=["index", "calls", "open ../run.log"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("index",),
        ("captures",),
        ("calls",),
        ("find", "x"),
        ("sources", "add", "/"),
        ("run", "-m", "this"),
        ("open", "../run.log"),
        ("--index", "../run.log", "captures"),
    ],
    ids=" ".join,
)
def test_verbs_that_need_the_folder_say_so(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "run.log").write_text("SQLite format 3\0", encoding="ascii")

    done = run(tmp_path, *arguments, FRAMEDEX_EDITOR="echo")

    assert (done.returncode, done.stdout, done.stderr) == (1, "", DELETED)
