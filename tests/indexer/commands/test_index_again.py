"""`framedex index` again: captures that grow, move, are copied, vanish or cannot be read, and several runs at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.captures import project_captures_folder
from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.model import CallFilter
from tests.indexer.commands.small_captures import start_puts, unpack_capture
from tests.indexer.privileges import run_without_privileges

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a capture where `framedex run` puts it, as the current folder."""
    folder = tmp_path / "project"
    unpack_capture(project_captures_folder(folder) / "first")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def puts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A program that is being recorded into the current project, and sends an array for each line of its input."""
    (tmp_path / ".framedex").mkdir()
    monkeypatch.chdir(tmp_path)
    process = start_puts(tmp_path / ".framedex")
    yield process
    process.kill()
    process.communicate()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["index", *arguments])


def test_what_a_running_program_adds_is_read_by_the_next_run(puts: subprocess.Popen[str]) -> None:
    """Given a capture indexed while its program runs, when the program goes on, then the rest is indexed too."""
    _send(puts, 3)
    early = run()
    sent_early = _sent()
    _send(puts, 20)
    puts.kill()
    puts.wait()

    again = run()
    after = run()

    assert "still being written" in early.stdout and "has grown" not in early.stdout
    assert "has grown" in again.stdout and "still being written" not in again.stdout
    assert "No new captures" in after.stdout
    assert (sent_early, _sent()) == (list(range(1, 4)), list(range(1, 24)))
    with Index.open(Path(".framedex/index.db")) as index:
        (capture,) = index.captures()
        assert capture.calls == len(index.calls.find(CallFilter()))


@pytest.mark.parametrize("how", ["as it was", "rebuilt"])
def test_a_moved_project_has_its_captures_once(project: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    run()
    elsewhere = project.rename(project.with_name("elsewhere"))
    monkeypatch.chdir(elsewhere)

    result = run(*(["--rebuild"] if how == "rebuilt" else []))

    assert result.exit_code == 0, result.stderr
    (capture,) = _captures(elsewhere)
    assert Path(capture["path"]).parent == project_captures_folder(elsewhere)
    told = f"The project moved here from {project}. Its recorded files are searched here."
    assert (told in result.stdout) is (how == "as it was")
    assert "are gone" not in result.stdout


def test_a_copy_beside_a_capture_is_the_same_capture(project: Path) -> None:
    run()
    (known,) = _captures(project)
    shutil.copytree(known["path"], f"{known['path']}-copy")

    result = run()

    assert "No new captures" in result.stdout
    assert _captures(project) == [known]


def test_a_rebuild_says_which_captures_are_gone(project: Path) -> None:
    run()
    (known,) = _captures(project)
    shutil.rmtree(known["path"])

    result = run("--rebuild")

    assert result.exit_code == 0
    assert f"1 capture with {known['calls']:,} calls could not be read again" in result.stdout
    assert known["path"] in result.stdout
    assert _captures(project) == []


def test_a_rebuild_of_an_older_index_reads_captures_that_lie_elsewhere(tmp_path: Path, project: Path) -> None:
    """Given an index from before captures had identities, then its captures are still known by their paths."""
    elsewhere = (project_captures_folder(project) / "first").rename(tmp_path / "elsewhere")
    run(str(elsewhere))
    connection = sqlite3.connect(project / ".framedex" / "index.db")
    connection.execute("ALTER TABLE captures RENAME COLUMN identity TO something_else")
    connection.close()

    assert run("--rebuild").exit_code == 0
    assert [row["path"] for row in _captures(project)] == [str(elsewhere)]


@pytest.mark.exhaustive
def test_runs_at_once_take_turns(project: Path) -> None:
    """Given no index, when three processes index the same captures, then each ends well and nothing is there twice."""
    processes = [
        subprocess.Popen([*FRAMEDEX, "index"], env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]

    for process in processes:
        output = process.communicate()
        assert process.returncode == 0, output
    assert len(_captures(project)) == 1


def test_a_run_waits_for_one_that_writes_and_says_so(project: Path) -> None:
    index = project / ".framedex" / "index.db"
    with Store(index) as store:
        with store.transaction():
            process = subprocess.Popen(
                [*FRAMEDEX, "index"], env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            assert process.stderr is not None
            told = process.stderr.readline()
        output = process.communicate()

    assert "waiting for it to finish" in told
    assert process.returncode == 0, output
    assert len(_captures(project)) == 1


@pytest.mark.exhaustive
def test_ctrl_c_in_a_rebuild_says_that_nothing_of_it_is_kept(project: Path) -> None:
    """Given a rebuild with a new source folder that gets SIGINT, then what is said of the folder is true."""
    run()
    (project / "src").mkdir()
    (project / "src" / "one.py").write_text("def one():\n    pass\n")
    script = (
        "import os, signal; from framedex.ingest import trees; from framedex.commands.main import cli\n"
        "trees.extract_files = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "cli(['index', '--rebuild', '--source', 'src'], prog_name='framedex')"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=_environment())

    assert done.returncode == 128 + signal.SIGINT
    assert "The rebuild was discarded" in done.stderr and "--source" in done.stderr
    with Index.open(project / ".framedex" / "index.db") as index:
        assert len(index.captures()) == 1
    with Store(project / ".framedex" / "index.db") as store:
        assert store.sources.roots() == []


@pytest.mark.exhaustive(keep=["capture"])
@pytest.mark.parametrize("hidden", ["capture", "captures"])
def test_a_folder_without_permission_is_named_with_a_remedy(project: Path, hidden: str) -> None:
    """Given a folder of mode 000, then the run says so; other captures are indexed."""
    captures = project_captures_folder(project)
    (capture,) = captures.iterdir()
    metadata = json.loads((capture / "capture.json").read_text())
    other = shutil.copytree(capture, captures / "other")
    (other / "capture.json").write_text(json.dumps(metadata | {"pid": 1}))
    folder = capture if hidden == "capture" else captures
    folder.chmod(0)
    try:
        done = run_without_privileges([*FRAMEDEX, "index"])
    finally:
        folder.chmod(0o755)

    assert done.returncode == 1
    assert str(folder) in done.stderr and "ermission" in done.stderr and "Traceback" not in done.stderr
    if hidden == "capture":
        with Index.open(project / ".framedex" / "index.db") as index:
            assert [row.path for row in index.captures()] == [str(other)]


@pytest.mark.parametrize("option", [[], ["--rebuild"]])
def test_a_file_that_was_never_an_index_is_left_as_it_is(project: Path, option: list[str]) -> None:
    notes = project / "notes.md"
    notes.write_text("# Notes\n")

    result = CliRunner().invoke(cli, ["--index", str(notes), "index", *option])

    assert result.exit_code == 1
    assert "notes.md is not a framedex index" in result.stderr and "--index" in result.stderr
    assert notes.read_text() == "# Notes\n"
    assert sorted(path.name for path in project.iterdir()) == [".framedex", "notes.md"]


def _send(process: subprocess.Popen[str], arrays: int) -> None:
    """Have the program send so many arrays more."""
    assert process.stdin is not None and process.stdout is not None
    for _ in range(arrays):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline()


def _sent() -> list[int]:
    """The sizes of the arrays whose sending is in the index, in order."""
    with Index.open(Path(".framedex/index.db")) as index:
        calls = index.calls.find(CallFilter(function="PJRT_Client_BufferFromHostBuffer"))
    return [call.arguments["dims"][0] for call in calls]


def _captures(project: Path) -> list[Any]:
    result = CliRunner().invoke(cli, ["--index", str(project / ".framedex" / "index.db"), "captures", "--json"])
    return list(json.loads(result.stdout)["captures"])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
