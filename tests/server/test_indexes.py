"""Which indexes are opened, searched and kept open: tests of the server's component for them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import zipfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from framedex.index import Index
from framedex_server.indexes import SCAN_TTL_S, IndexChoice, Indexes
from tests.pythons import ROOT
from tests.server.recording import Recording, record

pytestmark = pytest.mark.asyncio


class Clock:
    """A clock that advances on request."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def problems() -> list[str]:
    """The messages for the user."""
    return []


@pytest_asyncio.fixture
async def indexes(tmp_path: Path, clock: Clock, problems: list[str]) -> AsyncIterator[Indexes]:
    """The indexes of a session whose workspace is the temporary folder."""
    asked = Indexes(IndexChoice(None, lambda: [tmp_path], clock), lambda error: problems.append(error.message))
    yield asked
    asked.close()


def project(folder: Path) -> Recording:
    """A recorded program in a folder of its own."""
    folder.mkdir()
    return record(folder)


async def answering(indexes: Indexes, document: Path) -> str | None:
    """The project whose index answers for a document."""
    return await indexes.query(document, lambda index: index.path.parent.parent.name)


def open_below(folder: Path) -> set[str]:
    """The projects in a folder whose index this process has open, except the descriptor left from sealing."""
    links = (os.path.realpath(descriptor) for descriptor in Path("/proc/self/fd").iterdir())
    opened = Counter(path.parent.parent for path in map(Path, links) if path.name == "index.db")
    return {project.name for project, times in opened.items() if project.parent == folder and times > 1}


async def test_only_answering_projects_of_a_workspace_stay_open(tmp_path: Path, indexes: Indexes) -> None:
    projects = [project(tmp_path / name) for name in ("one", "two", "three")]
    library = tmp_path / "library.py"

    for _ in range(3):
        first = await answering(indexes, library)
        assert open_below(tmp_path) == {first}

    assert await answering(indexes, projects[1].demo) == "two"
    assert open_below(tmp_path) == {first, "two"}


async def test_the_workspace_is_scanned_again_only_after_a_delay(
    tmp_path: Path, indexes: Indexes, clock: Clock
) -> None:
    """A first recording in a workspace is found once the last scan has expired."""
    assert await answering(indexes, tmp_path / "any.py") is None
    project(tmp_path / "new")

    clock.now += SCAN_TTL_S / 2
    assert await answering(indexes, tmp_path / "any.py") is None
    clock.now += SCAN_TTL_S / 2
    assert await answering(indexes, tmp_path / "any.py") == "new"


async def test_an_index_deleted_since_the_last_scan_is_skipped(
    tmp_path: Path, indexes: Indexes, problems: list[str]
) -> None:
    project(tmp_path / "gone")
    assert await answering(indexes, tmp_path / "any.py") == "gone"
    shutil.rmtree(tmp_path / "gone")

    assert await answering(indexes, tmp_path / "any.py") is None
    assert problems == []


async def test_a_locked_open_index_is_queried_once(recording: Recording, indexes: Indexes, problems: list[str]) -> None:
    """If another process locks an open index, only one wait happens."""
    _without_log(recording.index)
    asked: list[Index] = []

    def captures(index: Index) -> int:
        asked.append(index)
        return len(index.captures())

    def ask() -> int | None:
        return indexes._query(recording.index, captures, lambda error: problems.append(error.message))

    assert ask() == 1

    holder = sqlite3.connect(recording.index, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert ask() is None
    assert len(problems) == 1 and "another process" in problems[0]

    holder.execute("ROLLBACK")
    holder.close()
    assert ask() == 1
    assert asked == [asked[0]] * 2, "it was opened anew, and so waited for again"


def empty_index(folder: Path) -> Path:
    path = folder / ".framedex" / "index.db"
    path.parent.mkdir()
    path.touch()
    return path


def _without_log(index: Path) -> None:
    """Leave WAL mode, in which a lock does not reach readers that have the index open."""
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    index.with_name(f"{index.name}.seal").unlink()


async def test_an_empty_index_is_not_reported_while_this_session_fills_it(
    indexes: Indexes, tmp_path: Path, problems: list[str]
) -> None:
    path = empty_index(tmp_path)
    indexes.being_written.add(path)
    assert await answering(indexes, tmp_path / "demo.py") is None
    assert problems == []
    indexes.being_written.discard(path)
    assert await answering(indexes, tmp_path / "demo.py") is None
    assert [problem.endswith("is empty.") for problem in problems] == [True]


async def test_sessions_of_one_index_share_reports_and_progress(
    indexes: Indexes, tmp_path: Path, problems: list[str]
) -> None:
    path = empty_index(tmp_path)
    choice = IndexChoice(None, lambda: [tmp_path])
    others = Indexes(choice, lambda error: problems.append(error.message), shared_with=indexes)
    try:
        indexes.being_written.add(path)
        assert await others.query_all(lambda index: None) == []
        indexes.being_written.discard(path)
        for asked in (others, indexes, others):
            assert await answering(asked, tmp_path / "demo.py") is None
        assert [problem.endswith("is empty.") for problem in problems] == [True]
    finally:
        others.close()


async def test_an_outdated_index_that_several_threads_meet_is_taken_once(
    indexes: Indexes, tmp_path: Path, problems: list[str]
) -> None:
    """Given two threads that meet the same outdated indexes while others are taken, none is lost or taken twice."""
    folders = [tmp_path / str(number) for number in range(60)]
    with zipfile.ZipFile(ROOT / "tests" / "fixtures" / "versions" / "0.1-index-6.zip") as archive:
        content = archive.read(".framedex/index.db")
    for folder in folders:
        (folder / ".framedex").mkdir(parents=True)
        (folder / ".framedex" / "index.db").write_bytes(content)
    choice = IndexChoice(None, lambda: [tmp_path])
    others = Indexes(choice, lambda error: problems.append(error.message), shared_with=indexes)
    taken: list[Path] = []

    async def ask(asked: Indexes) -> None:
        for folder in folders:
            assert await asked.query_folder(folder, lambda index: index.path) is None
            taken.extend(asked.take_outdated())

    try:
        await asyncio.gather(ask(indexes), ask(others))
    finally:
        others.close()
    assert Counter(path.parent.parent for path in taken) == Counter(folders)
    assert len(problems) <= len(folders)
