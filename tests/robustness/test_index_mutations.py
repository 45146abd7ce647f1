"""A thousand kinds of damage to an index: each gives a message or the same answer.

Never a traceback or another answer.
"""

from __future__ import annotations

import random
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index
from framedex.index.file import seal, soundness
from framedex.index.file.database import DamagedIndexError
from framedex.index.file.seal import seal_path
from tests.damage import damaged
from tests.indexer.recorded import Project

MUTATIONS = 1000
TIMEOUT_S = 60  # timeout in seconds for a query on the slowest machine

VERBS = [
    ["captures"],
    ["calls", "--stack", "full"],
    ["calls", "--group"],
    ["calls", "--json"],
    ["summary", "--by-thread"],
    ["transfers", "--all-lines"],
    ["check"],
    ["trace", "1", "--all"],
    ["trace", "2", "--json"],
    ["where", "demo.py"],
    ["where", "demo.py:2"],
    ["callers", "transfer"],
    ["callees", "main"],
    ["find", "put"],
    ["ffi", "--all"],
    ["sources"],
    ["index"],
]


@pytest.fixture
def _end_endless_queries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(soundness, "DOUBTFUL_QUERY_TIMEOUT_S", 1.0)
    # The same checksum without a process for each of thousands.
    monkeypatch.setattr(seal, "_compute_checksum_in_subprocess", seal.checksum)

    def hang(number: int, frame: object) -> None:
        raise AssertionError("the query never ends")

    before = signal.signal(signal.SIGALRM, hang)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_end_endless_queries")
def test_no_damage_is_silent(project: Project, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """For any damage to an index file, two verbs report that it is damaged."""
    project.ingest(project.folder).close()
    monkeypatch.chdir(project.folder)
    files = {path: path.read_bytes() for path in (project.index, seal_path(project.index))}
    for seed in range(MUTATIONS * times):
        for verb in random.Random(seed).sample(VERBS, 2):
            _put(project.index, damaged(files[project.index], seed), files[seal_path(project.index)])
            result = _ask(project, verb)
            assert result.exception is None or isinstance(result.exception, SystemExit), (seed, verb, result.exception)
            assert "framedex" in result.stderr, (seed, verb, result.output)
            assert "--rebuild" in result.stderr or "--index" in result.stderr, (seed, verb, result.output)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_end_endless_queries")
def test_damage_without_a_seal_is_not_a_traceback(
    project: Project, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """For damage to an unsealed index, as after a kill, failing answers are reported as damage."""
    project.ingest(project.folder).close()
    monkeypatch.chdir(project.folder)
    content = project.index.read_bytes()
    for seed in range(200 * times):
        (verb,) = random.Random(seed).sample(VERBS[:-1], 1)
        _put(project.index, damaged(content, seed), b"")
        result = _ask(project, verb)
        is_plain = result.exception is None or isinstance(result.exception, SystemExit)
        assert is_plain, (seed, verb, result.exception)


def test_an_unknown_enumeration_value_is_damage_even_without_a_seal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ingest(project.folder).close()
    monkeypatch.chdir(project.folder)
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute("UPDATE frames SET how = 'e0act' WHERE how IS NOT NULL")
    connection.close()
    seal_path(project.index).write_bytes(b"")

    result = _ask(project, ["trace", "2"])

    assert isinstance(result.exception, SystemExit), result.exception
    assert "damaged" in result.stderr


@pytest.mark.exhaustive(keep=["UPDATE functions SET language = 'cobol'", "DELETE FROM frames", "DROP TABLE threads"])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE functions SET language = 'cobol'",
        "UPDATE functions SET role = 7",
        "UPDATE frames SET function = 999999",
        "UPDATE call_rows SET arguments = 999999",
        "UPDATE captures SET metadata = '{'",
        "UPDATE captures SET problems = 'none'",
        "UPDATE functions SET name = CAST(x'ff8080' AS TEXT)",
        "UPDATE functions SET name = NULL",
        "UPDATE frames SET offset = 'here'",
        "UPDATE nodes SET parent = id",
        "UPDATE nodes SET frame = -frame",
        "UPDATE call_rows SET duration = NULL",
        "UPDATE call_rows SET kind = 999999",
        "UPDATE call_rows SET inside = id",
        "UPDATE call_kinds SET boundary = 999999",
        "UPDATE call_kinds SET longest = 'long', calls = NULL",
        "UPDATE call_durations SET bucket = -bucket",
        "UPDATE call_spans SET last_call = 999999",
        "DELETE FROM call_kinds",
        "DELETE FROM call_spans",
        "DELETE FROM boundaries",
        "DELETE FROM frames",
        "DELETE FROM threads",
        "DROP TABLE threads",
    ],
)
@pytest.mark.usefixtures("_end_endless_queries")
def test_contradictory_rows_are_reported(project: Project, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For rows that no indexer writes, each verb reports that the index was changed."""
    project.ingest(project.folder).close()
    monkeypatch.chdir(project.folder)
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = 0")
        connection.execute(damage)
    connection.close()
    for verb in VERBS:
        result = _ask(project, verb)
        assert result.exception is None or isinstance(result.exception, SystemExit), (verb, result.exception)
        assert "has changed since framedex wrote it" in result.stderr or "damaged" in result.stderr, (
            verb,
            result.output,
        )
    rebuilt = _ask(project, ["index", "--rebuild"])
    assert rebuilt.exception is None or isinstance(rebuilt.exception, SystemExit), rebuilt.exception
    assert "was changed" not in _ask(project, ["captures"]).stderr


def test_a_session_reading_contradictory_rows_has_an_error_with_a_remedy(project: Project) -> None:
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute("UPDATE functions SET language = 'cobol'")
    connection.close()
    with Index.open(project.index) as index:
        for _ in range(2):
            with pytest.raises(DamagedIndexError, match="cobol") as raised, index.reading():
                index.calls.trace(1)
            assert "--rebuild" in raised.value.remedy
        with index.reading():
            assert len(index.captures()) == 1, "undamaged data is still returned"


def test_an_internal_error_is_not_reported_as_damage(project: Project) -> None:
    with project.ingest() as index, pytest.raises(KeyError), index.reading():
        raise KeyError("of the code, not of a row")


def _ask(project: Project, verb: list[str]) -> Result:
    signal.alarm(TIMEOUT_S)
    try:
        return CliRunner().invoke(cli, ["--index", str(project.index), *verb])
    finally:
        signal.alarm(0)


def _put(index: Path, content: bytes, seal: bytes) -> None:
    """Replace the index by other content, without its side files."""
    for beside in ("-wal", "-shm"):
        index.with_name(index.name + beside).unlink(missing_ok=True)
    index.write_bytes(content)
    seal_path(index).write_bytes(seal)
