"""Unusable index files, and the messages about them."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.index import Index, Store, find_index
from framedex.index.file.database import LockTimeout
from framedex.index.file.schema import TABLES, VERSION
from framedex.ingest import SilentProgress, rebuild_index
from framedex.model import CallFilter
from tests.indexer.recorded import Project
from tests.robustness.mounts import on_read_only_disk


def test_a_missing_index_names_the_command_that_creates_one(tmp_path: Path) -> None:
    with pytest.raises(FramedexError) as raised:
        Index.open(tmp_path / "index.db")

    assert "framedex index" in raised.value.remedy


def test_an_index_deleted_while_being_written_is_reported(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    with Store(index) as store, pytest.raises(FramedexError, match="was removed"), store.transaction():
        index.unlink()


@pytest.mark.parametrize(
    ("version", "remedy"),
    [(VERSION + 1, "pip install --upgrade"), (VERSION - 1, "framedex index"), (99, "--index FILE")],
)
def test_an_index_of_another_version_is_refused_for_reading_and_writing(
    project: Project, version: int, remedy: str
) -> None:
    project.ingest().close()
    _set(project.index, f"PRAGMA user_version = {version}")

    for use in (Index.open, Store):
        with pytest.raises(FramedexError) as raised:
            use(project.index)
        assert f"version {version}" in raised.value.message
        assert remedy in raised.value.remedy


def test_an_index_of_a_newer_framedex_is_never_written(project: Project) -> None:
    project.ingest(project.folder).close()
    _set(project.index, f"PRAGMA user_version = {VERSION + 1}", "ALTER TABLE call_rows RENAME TO calls_of_tomorrow")
    before = project.index.read_bytes()

    with pytest.raises(FramedexError, match="from a later framedex"):
        rebuild_index(project.index, [], [], SilentProgress())

    assert project.index.read_bytes() == before


def test_a_rebuild_replaces_an_older_index_and_keeps_its_roots(project: Project) -> None:
    project.ingest(project.folder).close()
    _set(project.index, f"PRAGMA user_version = {VERSION - 1}", "ALTER TABLE call_rows RENAME TO calls_of_yesterday")

    rebuild_index(project.index, [], [], SilentProgress())

    with Store(project.index) as store:
        assert store.sources.roots() == [str(project.folder)]
    Index.open(project.index).close()


def test_a_database_of_another_program_is_never_changed(tmp_path: Path) -> None:
    path = tmp_path / "addresses.db"
    _set(path, "CREATE TABLE people(name)", "INSERT INTO people VALUES ('Ada')")
    before = path.read_bytes()

    for use in (Index.open, Store, lambda path: rebuild_index(path, [], [], SilentProgress())):
        with pytest.raises(FramedexError, match="not a framedex index"):
            use(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_not_a_database_is_refused_and_set_aside_by_a_rebuild(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(content)

    for use in (Index.open, Store):
        with pytest.raises(FramedexError) as raised:
            use(path)
        assert "--rebuild" in raised.value.remedy

    rebuild_index(path, [], [], SilentProgress())
    assert Index.open(path).captures() == []
    assert path.with_name("index.db.damaged").read_bytes() == content


@pytest.mark.exhaustive
def test_an_index_truncated_anywhere_answers_or_reports_damage(project: Project, tmp_path: Path) -> None:
    project.ingest(project.folder).close()
    whole = project.index.read_bytes()
    damaged = tmp_path / "damaged.db"
    refused = 0
    for size in range(0, len(whole), 1021):
        damaged.write_bytes(whole[:size])
        try:
            with Index.open(damaged) as index:
                calls = index.calls.find(CallFilter())
                assert [index.calls.trace(call.id) for call in calls]
        except FramedexError as error:
            refused += 1
            assert error.remedy
    assert refused > 10


def test_a_corrupt_page_is_damage_instead_of_a_crash(project: Project) -> None:
    project.ingest(project.folder).close()
    content = bytearray(project.index.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = os.urandom(64)
    project.index.write_bytes(content)

    with pytest.raises(FramedexError, match="damaged"), Index.open(project.index) as index:
        index.calls.find(CallFilter())


def test_a_second_writer_is_refused_with_a_message(project: Project) -> None:
    project.ingest().close()
    with Store(project.index) as first, first.transaction(), Index.open(project.index) as reader:
        with (
            pytest.raises(FramedexError, match="another process") as raised,
            Store(project.index, LockTimeout(0.01)) as second,
        ):
            second.clear()
        assert "again" in raised.value.remedy
        assert len(reader.captures()) == 1, "readers are not disturbed by a writer"


def test_an_index_in_a_read_only_folder_is_readable(project: Project) -> None:
    project.ingest().close()

    script = "from framedex.model import CallFilter; print(len(Index.open(path).calls.find(CallFilter())))"
    done = on_read_only_disk(project.index.parent, _run_python(script, project.index))

    assert (done.stdout, done.stderr) == ("4\n", "")


@pytest.mark.exhaustive(keep=["index.db"])
@pytest.mark.parametrize("name", ["index.db", "new.db", "new/index.db"])
def test_an_unwritable_folder_is_named_with_a_remedy(project: Project, name: str) -> None:
    project.ingest().close()
    path = project.index.parent / name

    script = (
        "from framedex.base.errors import FramedexError\ntry: Store(path)\nexcept FramedexError as error: print(error)"
    )
    done = on_read_only_disk(project.index.parent, _run_python(script, path))

    assert str(path) in done.stdout, done.stderr
    assert "permissions" in done.stdout


def _run_python(script: str, path: Path) -> str:
    head = "import sys; from pathlib import Path; from framedex.index import Index, Store; path = Path(sys.argv[1])"
    return f"python -c '{head}\n{script}' \"{path}\""


def test_a_full_disk_is_reported_and_the_index_unchanged(project: Project) -> None:
    """With a file size limit and a capture that does not fit, the old content stays."""
    project.ingest().close()
    with Store(project.index) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(FramedexError, match="disk is full"), store.transaction():
            store._connection.execute("INSERT INTO files(path) VALUES (zeroblob(1000000))")

    with Index.open(project.index) as index:
        assert len(index.calls.find(CallFilter())) == 4


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".framedex").write_text("")

    with pytest.raises(FramedexError, match=os.strerror(errno.EEXIST)):
        Store(tmp_path / ".framedex" / "index.db")


def test_the_nearest_index_in_parent_folders_is_found(project: Project) -> None:
    project.ingest().close()
    below = project.folder / "a" / "b"
    below.mkdir(parents=True)

    assert find_index(below) == project.index
    assert find_index(project.folder.parent) is None


def test_an_inaccessible_folder_has_no_index_and_hides_none_above(project: Project) -> None:
    project.ingest().close()

    assert find_index(project.folder / ("x" * 300) / "below") == project.index


def test_an_inaccessible_index_is_not_reported_as_missing(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300) / "index.db"

    with pytest.raises(FramedexError, match="cannot be opened") as raised:
        Index.open(path)
    assert os.strerror(errno.ENAMETOOLONG) in raised.value.message


def _set(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n"


@pytest.mark.parametrize(
    "statements",
    [
        ("ALTER TABLE call_rows RENAME TO kept", f"CREATE VIEW call_rows AS {ENDLESS}"),
        ("DROP VIEW calls", f"CREATE VIEW calls AS {ENDLESS}"),
        ("DROP VIEW objects", f"CREATE VIEW OBJECTS AS {ENDLESS}"),
        ("DROP VIEW calls", "CREATE TABLE calls(id AS (hex(zeroblob(500000000))), other)"),
        ("CREATE TRIGGER more AFTER INSERT ON captures BEGIN DELETE FROM call_rows; END",),
        ("ALTER TABLE captures ADD COLUMN more AS (hex(zeroblob(500000000)))",),
        ("ALTER TABLE frames RENAME TO kept", "CREATE VIRTUAL TABLE frames USING fts5(id)"),
        (
            "DROP TRIGGER names_removed",
            "CREATE TRIGGER names_removed AFTER DELETE ON names BEGIN DELETE FROM call_rows; END",
        ),
    ],
)
def test_a_database_designed_to_block_readers_is_refused(project: Project, statements: tuple[str, ...]) -> None:
    project.ingest().close()
    _set(project.index, *statements)

    for use in (Index.open, Store):
        with pytest.raises(FramedexError, match="not an index written by framedex") as raised:
            use(project.index)
        assert "framedex index --rebuild" in raised.value.remedy


def test_user_tables_and_views_inside_an_index_are_allowed(project: Project) -> None:
    project.ingest().close()
    _set(project.index, "CREATE TABLE notes(text)", f"CREATE VIEW numbers AS {ENDLESS}")
    Index.open(project.index).close()


def test_every_index_table_has_a_known_name(project: Project) -> None:
    project.ingest().close()
    connection = sqlite3.connect(project.index)
    own = "name NOT LIKE 'name!_parts!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    named = f"SELECT name FROM sqlite_master WHERE type = 'table' AND {own}"
    assert {name for (name,) in connection.execute(named)} == TABLES
    connection.close()
