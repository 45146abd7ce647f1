"""Data of earlier versions stays readable: captures directly, and indexes by an automatic rebuild.

`tests/fixtures/versions` keeps a small project of each index version since 0.1.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index.file.schema import VERSION
from tests.hiding import ANOTHER_SYSTEM, python_without
from tests.indexer.privileges import run_without_privileges
from tests.pythons import ROOT

PROJECTS = sorted((ROOT / "tests" / "fixtures" / "versions").glob("*.zip"))
CAPTURES = sorted((ROOT / "tests" / "fixtures" / "captures").glob("*.zip"))
RUN = "from framedex.commands.main import cli; cli(prog_name='framedex')"
ANEW = "Rebuilding the index"


def unpacked(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    return folder


@pytest.fixture
def outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an index of an earlier version, as the current folder."""
    project = unpacked(next(each for each in PROJECTS if index_version(each) < VERSION), tmp_path / "project")
    monkeypatch.chdir(project)
    return project


def index_version(archive: Path) -> int:
    found = re.fullmatch(r".*-index-(\d+)", archive.stem)
    assert found
    return int(found[1])


def version_of(project: Path) -> int:
    with closing(sqlite3.connect(project / ".framedex" / "index.db")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments])


def test_a_project_of_this_version_is_unchanged() -> None:
    """Its README explains how to create it for later versions."""
    assert VERSION in map(index_version, PROJECTS)


@pytest.mark.exhaustive(keep=[PROJECTS[0].stem, PROJECTS[-1].stem])
@pytest.mark.parametrize("archive", PROJECTS, ids=lambda archive: archive.stem)
def test_projects_of_every_version_are_read(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = unpacked(archive, tmp_path)
    assert version_of(project) == index_version(archive)
    monkeypatch.chdir(project)

    first, second = run("calls"), run("calls", "--json")

    assert first.exit_code == 0, first.stderr
    assert (ANEW in first.stderr) == (index_version(archive) < VERSION)
    assert "PJRT_Client_BufferFromHostBuffer" in first.stdout
    assert ANEW not in second.stderr
    assert len(json.loads(second.stdout)["calls"]) == _call_count(archive)
    assert version_of(project) == VERSION


def _call_count(archive: Path) -> int:
    """The number of calls that JAX made and framedex recorded at that time; 14 has functions of memories."""
    if archive.stem.startswith("0.1-"):
        return 9
    return 11 if index_version(archive) < 14 else 13


@pytest.mark.parametrize("archive", CAPTURES, ids=lambda archive: archive.stem)
def test_captures_of_every_format_are_read(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked(archive, tmp_path / ".framedex" / "captures" / "20260101-000000-1")
    monkeypatch.chdir(tmp_path)
    assert run("index").exit_code == 0
    assert "PJRT_Client_BufferFromHostBuffer" in run("calls").stdout


@pytest.mark.exhaustive(keep=["summary", "index", "sources add ."])
@pytest.mark.parametrize(
    "verb", ["summary", "index", "sources", "sources add .", "find put", "trace 1", "check", "ffi", "captures"]
)
def test_any_verb_rebuilds_an_older_index(outdated: Path, verb: str) -> None:
    done = run(*verb.split())
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count(ANEW) == 1 and str(outdated / ".framedex" / "index.db") in done.stderr
    assert version_of(outdated) == VERSION


def test_without_its_captures_an_older_index_stays_with_a_remedy(outdated: Path) -> None:
    index = outdated / ".framedex" / "index.db"
    before = index.read_bytes()
    shutil.rmtree(outdated / ".framedex" / "captures")

    refused = run("calls")

    assert refused.exit_code == 1
    assert (
        "Some of its captures or source maps are missing" in refused.stderr
        and "framedex index --rebuild" in refused.stderr
    )
    assert index.read_bytes() == before
    assert run("index", "--rebuild").exit_code == 0
    assert version_of(outdated) == VERSION


def test_an_unreadable_capture_prevents_a_lossy_rebuild(outdated: Path) -> None:
    (capture,) = (outdated / ".framedex" / "captures").iterdir()
    # The path stored in the index, so that the recorded path is not searched.
    with closing(sqlite3.connect(outdated / ".framedex" / "index.db")) as connection:
        connection.execute("UPDATE captures SET path = ?", (str(capture),))
        connection.commit()
    (capture / "capture.json").write_text("{}")
    version = version_of(outdated)

    refused = run("calls")

    assert refused.exit_code == 1 and "cannot be read now" in refused.stderr
    assert version_of(outdated) == version


@pytest.mark.exhaustive
def test_concurrent_verbs_rebuild_once(outdated: Path) -> None:
    command = [sys.executable, "-c", RUN, "calls"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [each.communicate() for each in both]
    assert [each.returncode for each in both] == [0, 0], told
    assert told[0][0] == told[1][0] != ""
    assert sum("Rebuilding the index" in errors for _, errors in told) == 1


@pytest.mark.exhaustive
def test_a_kill_during_a_rebuild_keeps_the_old_index(outdated: Path) -> None:
    version = version_of(outdated)
    kill = (
        "import os, signal; from framedex.ingest import rebuild\n"
        "rebuild.find_sources = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", kill + RUN, "calls"], check=False).returncode == -signal.SIGKILL
    assert version_of(outdated) == version

    again = run("calls")
    assert again.exit_code == 0 and ANEW in again.stderr


def test_an_unwritable_index_is_reported(outdated: Path) -> None:
    folder = outdated / ".framedex"
    for path in (folder, folder / "index.db"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        refused = run_without_privileges([sys.executable, "-c", RUN, "calls"])
    finally:
        folder.chmod(0o755)
    assert refused.returncode == 1
    assert (
        "from an earlier framedex and cannot be rebuilt" in refused.stderr
        and "--index" in refused.stderr
        and "Traceback" not in refused.stderr
    )


def test_missing_indexing_support_is_reported(outdated: Path) -> None:
    refused = subprocess.run([*python_without(ANOTHER_SYSTEM, RUN), "calls"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "native part" in refused.stderr and "Traceback" not in refused.stderr
    assert version_of(outdated) < VERSION


def test_an_index_outside_its_project_is_not_written(outdated: Path, tmp_path: Path) -> None:
    index = outdated / ".framedex" / "index.db"
    elsewhere = tmp_path / "elsewhere.db"
    index.rename(elsewhere)
    index.symlink_to(elsewhere)
    before = elsewhere.read_bytes()

    refused = run("calls")

    assert refused.exit_code == 1 and ", outside " in refused.stderr
    assert elsewhere.read_bytes() == before


def test_a_vacuumed_index_is_rebuilt(outdated: Path) -> None:
    """VACUUM puts a virtual table's internal tables before it."""
    with closing(sqlite3.connect(outdated / ".framedex" / "index.db")) as connection:
        connection.execute("VACUUM")
    assert run("calls").exit_code == 0
    assert not (outdated / ".framedex" / "index.db.damaged").exists()
