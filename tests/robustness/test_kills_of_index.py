"""A killed ingest leaves a valid index, and running it again continues."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.model import CallFilter
from tests.indexer.recorded import Project, build_project

# A process that ingests and kills itself by a trace function after this many SQL statements of a transaction.
KILLED_INGEST = """
import os, signal, sys
from pathlib import Path
from framedex.index import Store
from framedex.ingest import CaptureFrameNamer, SilentProgress, find_sources
from tests.oracle.whole_captures import add_capture
from tests.indexer.recorded import build_project

folder, library, statements = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
project = build_project(folder, library)
left = statements

def count(statement):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

with Store(project.index) as store:
    store._connection.set_trace_callback(count)
    add_capture(store, project.again("second"), CaptureFrameNamer())
    with store.transaction():
        store.sources.add_root(str(folder / "sources"))
    find_sources(store, SilentProgress())
"""


@pytest.mark.exhaustive(keep=["40", "160"])
@pytest.mark.parametrize("statements", [1, 2, 10, 40, 80, 120, 160, 200, 240, 280])
def test_a_killed_ingest_keeps_the_previous_index(project: Project, statements: int) -> None:
    """If the ingest of a second capture is killed anywhere, the index has one or two."""
    project.ingest().close()

    status = _ingest_until_killed(project, statements)

    assert status in (0, -signal.SIGKILL)
    with Index.open(project.index) as index:
        assert not index.was_changed, "a kill is no damage"
        captures = len(index.captures())
        assert captures in (1, 2)
        assert len(index.calls.find(CallFilter())) == 4 * captures
        assert sum(index.file(str(project.program)).recorded_lines().values()) == 16 * captures
        assert all(index.calls.trace(call.id) for call in index.calls.find(CallFilter()))
    assert _check(project.index) == "ok"


@pytest.mark.exhaustive
def test_a_killed_first_ingest_can_be_repeated(tmp_path: Path, library: Path) -> None:
    project = build_project(tmp_path, library)
    project.index.parent.mkdir(parents=True)

    assert _ingest_until_killed(project, 30) == -signal.SIGKILL
    assert _ingest_until_killed(project, 0) == 0

    with Index.open(project.index) as index:
        assert len(index.captures()) == 1


def test_the_next_run_creates_an_index_after_a_kill(tmp_path: Path) -> None:
    """A file that SQLite has only begun becomes an index when it is opened for writing."""
    path = tmp_path / "index.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()

    Store(path).close()

    assert Index.open(path).captures() == []


def test_an_interruption_while_reading_sources_keeps_the_files_already_read(project: Project) -> None:
    """After Ctrl-C at the 600th of 1,000 files, the next run reads the rest and everything is found."""
    sources = project.folder / "sources"
    sources.mkdir()
    for number in range(1000):
        (sources / f"file_{number:04}.py").write_text(f"def function_{number}():\n    pass\n")
    project.ingest().close()
    with Store(project.index) as store:
        with store.transaction():
            store.sources.add_root(str(sources))
        with pytest.raises(KeyboardInterrupt):
            find_sources(store, _InterruptAt(600))

    with Store(project.index) as store:
        kept = len([path for path in store.sources.known_files() if path.startswith(str(sources))])
        report = find_sources(store, SilentProgress())

        assert 0 < kept < 600
        assert report.parsed == 1000 - kept
        assert all(store.sources.definitions(f"function_{number}", "python") for number in range(1000))


class _InterruptAt(SilentProgress):
    """A listener that simulates Ctrl-C after this many source files."""

    def __init__(self, files: int) -> None:
        self._left = files

    def task(self, description: str, total: int | None):  # type: ignore[no-untyped-def]
        from contextlib import nullcontext

        return nullcontext(self._advance if description == "Reading sources" else lambda amount: None)

    def _advance(self, amount: int) -> None:
        self._left -= amount
        if self._left == 0:
            raise KeyboardInterrupt


def _ingest_until_killed(project: Project, statements: int) -> int:
    command = [sys.executable, "-c", KILLED_INGEST, str(project.folder), str(project.library), str(statements)]
    return subprocess.run(command, check=False, env=_environment()).returncode


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def _check(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()
