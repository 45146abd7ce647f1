"""Which indexes are opened, looked for and kept, asked of the part of the server that owns them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from framedex.index import Index
from framedex_server.indexes import SCAN_TTL_S, IndexChoice, Indexes
from tests.server.recording import Recording, record

pytestmark = pytest.mark.asyncio


class Clock:
    """Seconds that go by when told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def problems() -> list[str]:
    """What the user was told."""
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
    """The projects in a folder whose index this process has open, beside the descriptor that sealing it here left."""
    links = (os.path.realpath(descriptor) for descriptor in Path("/proc/self/fd").iterdir())
    opened = Counter(path.parent.parent for path in map(Path, links) if path.name == "index.db")
    return {project.name for project, times in opened.items() if project.parent == folder and times > 1}


async def test_of_the_projects_inside_a_workspace_only_those_that_answer_stay_open(
    tmp_path: Path, indexes: Indexes
) -> None:
    projects = [project(tmp_path / name) for name in ("one", "two", "three")]
    library = tmp_path / "library.py"

    for _ in range(3):
        first = await answering(indexes, library)
        assert open_below(tmp_path) == {first}

    assert await answering(indexes, projects[1].demo) == "two"
    assert open_below(tmp_path) == {first, "two"}


async def test_the_workspace_is_looked_through_again_only_after_a_while(
    tmp_path: Path, indexes: Indexes, clock: Clock
) -> None:
    """Given a workspace without recordings, when one comes inside, then it is found once the last look is old."""
    assert await answering(indexes, tmp_path / "any.py") is None
    project(tmp_path / "new")

    clock.now += SCAN_TTL_S / 2
    assert await answering(indexes, tmp_path / "any.py") is None
    clock.now += SCAN_TTL_S / 2
    assert await answering(indexes, tmp_path / "any.py") == "new"


async def test_an_index_that_is_gone_since_the_last_look_is_passed_over(
    tmp_path: Path, indexes: Indexes, problems: list[str]
) -> None:
    project(tmp_path / "gone")
    assert await answering(indexes, tmp_path / "any.py") == "gone"
    shutil.rmtree(tmp_path / "gone")

    assert await answering(indexes, tmp_path / "any.py") is None
    assert problems == []


async def test_a_locked_index_that_is_open_is_asked_once(
    recording: Recording, indexes: Indexes, problems: list[str]
) -> None:
    """Given an open index, when another process takes it for itself, then no second wait follows the first."""
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
    """Take the index out of WAL mode, in which a lock does not reach readers that have it open."""
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    index.with_name(f"{index.name}.seal").unlink()


async def test_that_an_index_is_empty_is_not_told_while_this_session_fills_it(
    indexes: Indexes, tmp_path: Path, problems: list[str]
) -> None:
    path = empty_index(tmp_path)
    indexes.being_written.add(path)
    assert await answering(indexes, tmp_path / "demo.py") is None
    assert problems == []
    indexes.being_written.discard(path)
    assert await answering(indexes, tmp_path / "demo.py") is None
    assert [problem.endswith("is empty.") for problem in problems] == [True]


async def test_those_beside_it_tell_the_same_thing_once_and_know_what_is_being_filled(
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
