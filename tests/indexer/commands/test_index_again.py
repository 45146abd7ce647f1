"""Repeated `framedex index`: captures that grow, move, are copied, vanish or are unreadable, and concurrent runs."""

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
    """A folder with a capture in the default place, as the current folder."""
    folder = tmp_path / "project"
    unpack_capture(project_captures_folder(folder) / "first")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def puts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A program recorded into the current project, which sends an array for each input line."""
    (tmp_path / ".framedex").mkdir()
    monkeypatch.chdir(tmp_path)
    process = start_puts(tmp_path / ".framedex")
    yield process
    process.kill()
    process.communicate()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["index", *arguments])


def test_the_next_run_reads_new_calls_of_a_running_program(puts: subprocess.Popen[str]) -> None:
    """A capture indexed while its program runs is completed by the next run."""
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
def test_a_moved_project_keeps_each_capture_once(project: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
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


def test_a_copy_of_a_capture_is_the_same_capture(project: Path) -> None:
    run()
    (known,) = _captures(project)
    shutil.copytree(known["path"], f"{known['path']}-copy")

    result = run()

    assert "No new captures" in result.stdout
    assert _captures(project) == [known]


def test_a_rebuild_lists_missing_captures(project: Path) -> None:
    run()
    (known,) = _captures(project)
    shutil.rmtree(known["path"])

    result = run("--rebuild")

    assert result.exit_code == 0
    assert f"1 capture with {known['calls']:,} calls could not be read again" in result.stdout
    assert known["path"] in result.stdout
    assert _captures(project) == []


def test_rebuilding_an_older_index_reads_external_captures(tmp_path: Path, project: Path) -> None:
    """In an index from before captures had identities, their paths identify them."""
    elsewhere = (project_captures_folder(project) / "first").rename(tmp_path / "elsewhere")
    run(str(elsewhere))
    connection = sqlite3.connect(project / ".framedex" / "index.db")
    connection.execute("ALTER TABLE captures RENAME COLUMN identity TO something_else")
    connection.close()

    assert run("--rebuild").exit_code == 0
    assert [row["path"] for row in _captures(project)] == [str(elsewhere)]


@pytest.mark.exhaustive
def test_concurrent_runs_take_turns(project: Path) -> None:
    """Three processes index the same captures without errors or duplicates."""
    processes = [
        subprocess.Popen([*FRAMEDEX, "index"], env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]

    for process in processes:
        output = process.communicate()
        assert process.returncode == 0, output
    assert len(_captures(project)) == 1


def test_a_run_waits_for_another_writer_and_says_so(project: Path) -> None:
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
def test_ctrl_c_during_a_rebuild_says_that_it_is_discarded(project: Path) -> None:
    """If SIGINT stops a rebuild with a new source folder, the report on the folder is correct."""
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
def test_an_inaccessible_folder_is_named_with_a_remedy(project: Path, hidden: str) -> None:
    """A folder of mode 000 is reported; other captures are indexed."""
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
def test_a_file_that_is_not_an_index_is_not_changed(project: Path, option: list[str]) -> None:
    notes = project / "notes.md"
    notes.write_text("# Notes\n")

    result = CliRunner().invoke(cli, ["--index", str(notes), "index", *option])

    assert result.exit_code == 1
    assert "notes.md is not a framedex index" in result.stderr and "--index" in result.stderr
    assert notes.read_text() == "# Notes\n"
    assert sorted(path.name for path in project.iterdir()) == [".framedex", "notes.md"]


def _send(process: subprocess.Popen[str], arrays: int) -> None:
    """Make the program send this many more arrays."""
    assert process.stdin is not None and process.stdout is not None
    for _ in range(arrays):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline()


def _sent() -> list[int]:
    """The sizes of the sent arrays in the index, in order."""
    with Index.open(Path(".framedex/index.db")) as index:
        calls = index.calls.find(CallFilter(function="PJRT_Client_BufferFromHostBuffer"))
    return [call.arguments["dims"][0] for call in calls]


def _captures(project: Path) -> list[Any]:
    result = CliRunner().invoke(cli, ["--index", str(project / ".framedex" / "index.db"), "captures", "--json"])
    return list(json.loads(result.stdout)["captures"])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
