"""The seal of an index detects others' changes, and never framedex's own, whenever it was stopped."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier, Event

import pytest

from framedex.index import Index, Store
from framedex.index.file import seal
from framedex.index.file.seal import seal_path, was_changed
from framedex.index.opening import open_index
from framedex.ingest import SilentProgress, find_sources, rebuild_index
from tests.indexer.recorded import Project
from tests.robustness.mounts import on_read_only_disk


def test_a_changed_byte_of_a_name_is_detected_until_the_index_is_rebuilt(project: Project) -> None:
    project.ingest().close()
    content = project.index.read_bytes()
    project.index.write_bytes(content.replace(b"transfer", b"transFer"))

    assert was_changed(project.index)
    assert was_changed(project.index), "and again, without another check of the whole file"
    with Store(project.index) as store:
        assert store.was_changed_outside
        find_sources(store, SilentProgress())
        store.seal()
    assert was_changed(project.index), "a later write does not repair it"
    rebuild_index(project.index, [], [], SilentProgress())
    assert not was_changed(project.index)


def test_a_change_that_keeps_the_file_time_is_detected(project: Project) -> None:
    project.ingest().close()
    before = project.index.stat()
    project.index.write_bytes(project.index.read_bytes().replace(b"transfer", b"transFer"))
    os.utime(project.index, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert was_changed(project.index)


def test_threads_compute_the_checksum_of_an_index_while_it_is_replaced(tmp_path: Path) -> None:
    """Each closes the descriptor of the replaced file, but not while another reads it."""
    index, new, content = tmp_path / "index.db", tmp_path / "new.db", b"x" * (1 << 20)
    index.write_bytes(content)
    expected = seal.checksum(index)

    def compute(_: int) -> set[int]:
        found = {seal.checksum(index)}
        has_begun.wait()
        while not is_replaced.is_set():
            found.add(seal.checksum(index))
        return found

    is_replaced, has_begun = Event(), Barrier(5)
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(compute, range(4))
        has_begun.wait()
        for _ in range(100):
            new.write_bytes(content)
            new.replace(index)
        is_replaced.set()
    assert set().union(*found) == {expected}


@pytest.mark.parametrize("keeps_times", [False, True])
def test_a_copy_equals_the_index(project: Project, keeps_times: bool) -> None:
    project.ingest().close()
    copy = project.folder / "copy" / "index.db"
    copy.parent.mkdir()
    for path in (project.index, seal_path(project.index)):
        (shutil.copy2 if keeps_times else shutil.copy)(path, copy.parent)
    sealed = seal_path(copy).read_text()

    assert not was_changed(copy)
    assert seal_path(copy).read_text() != sealed, "it was checked once"


def test_a_user_view_is_reported_until_the_seal_is_removed(project: Project) -> None:
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute("CREATE VIEW mine AS SELECT name FROM functions")
    connection.close()

    with Index.open(project.index) as index:
        assert index.was_changed
        assert len(index.captures()) == 1, "no query fails"
    seal_path(project.index).unlink()
    assert not was_changed(project.index)


@pytest.mark.parametrize(
    "text", ["", "framedex-seal 1", "framedex-seal 1 4 4 4 zz\n", "framedex-seal 9 1 2 3 0\n", "\0"]
)
def test_a_malformed_seal_reports_nothing(project: Project, text: str) -> None:
    project.ingest().close()
    seal_path(project.index).write_text(text)

    assert not was_changed(project.index)


def test_rows_lost_by_an_unsealed_index_are_detected(project: Project) -> None:
    """Readers report a lost row in an index whose last writer was killed."""
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as connection:
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'idx_frames_file_line'"
        ).fetchone()
    content = bytearray(project.index.read_bytes())
    rows = (page - 1) * page_size + 3  # https://sqlite.org/fileformat2.html#b_tree_pages
    content[rows : rows + 2] = (int.from_bytes(content[rows : rows + 2], "big") - 1).to_bytes(2, "big")
    project.index.write_bytes(content)
    seal_path(project.index).write_text("")

    with Index.open(project.index, may_write=False) as index:
        assert index.was_changed
    assert seal_path(project.index).read_text() == "", "a query writes nothing"
    with Index.open(project.index) as index:
        assert index.was_changed
    assert was_changed(project.index), "and again, without another check of the whole file"


def test_an_intact_unsealed_index_is_sealed_by_its_first_reader(project: Project) -> None:
    project.ingest().close()
    sealed = seal_path(project.index).read_text()
    seal_path(project.index).write_text("")
    with Index.open(project.index) as index:
        assert not index.was_changed
    assert seal_path(project.index).read_text() == sealed


def test_an_index_being_written_is_left_to_its_writer(project: Project) -> None:
    project.ingest().close()
    with Store(project.index), Index.open(project.index) as index:
        assert not index.was_changed
        assert seal_path(project.index).read_text() == ""


def test_a_program_that_opens_a_changed_index_is_warned(project: Project) -> None:
    project.ingest().close()
    project.index.write_bytes(project.index.read_bytes().replace(b"transfer", b"transFer"))
    with pytest.warns(UserWarning, match="has changed since framedex wrote it"), open_index(project.index) as index:
        assert index.was_changed


def test_a_half_written_seal_reports_nothing(project: Project) -> None:
    project.ingest().close()
    whole = seal_path(project.index).read_text()
    project.index.write_bytes(project.index.read_bytes() + bytes(4096))
    for size in range(len(whole)):
        seal_path(project.index).write_text(whole[:size])
        assert not was_changed(project.index)


def test_a_large_index_is_checked_only_on_request(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a saved file was read again, an index over the size limit is not summed until the next run."""
    project.ingest().close()
    monkeypatch.setattr("framedex.index.write.store.CHEAP_CHECKSUM_BYTES", 100)
    summed: list[Path] = []

    def sum_of(path: Path) -> int:
        summed.append(path)
        return 1

    monkeypatch.setattr(seal, "checksum", sum_of)
    with Store(project.index) as store, store.transaction():
        store.sources.add_root(str(project.folder))
    assert (summed, seal_path(project.index).read_text()) == ([], "")
    assert not was_changed(project.index)
    with Store(project.index) as store:
        store.seal()
    assert len(summed) == 1


def test_a_writer_without_changes_keeps_the_seal(project: Project) -> None:
    project.ingest().close()
    before = seal_path(project.index).read_text()
    Store(project.index).close()
    assert seal_path(project.index).read_text() == before != ""


def test_a_sealed_index_is_not_checked_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ingest().close()
    monkeypatch.setattr(seal, "_compute_checksum_in_subprocess", lambda path: pytest.fail("unchanged since sealing"))
    assert not was_changed(project.index)


def test_the_last_of_several_writers_seals_the_index(project: Project) -> None:
    project.ingest().close()
    first, second = Store(project.index), Store(project.index)
    with first.transaction():
        first.sources.add_root(str(project.folder))
    first.close()
    assert seal_path(project.index).read_text() == "", "another writer may still write"
    with second.transaction():
        second.sources.add_root("/somewhere")
    second.close()
    assert seal_path(project.index).read_text().startswith("framedex-seal")
    assert not was_changed(project.index)


@pytest.mark.exhaustive
def test_readers_beside_a_writer_never_report_damage(project: Project) -> None:
    """While a process repeatedly writes and seals the index, other processes never find it changed."""
    project.ingest().close()
    script = (
        "import sys; from pathlib import Path; from framedex.index import Store\n"
        "for number in range(60):\n"
        "    with Store(Path(sys.argv[1])) as store:\n"
        "        with store.transaction(): store.sources.add_root(f'/folder/{number}')\n"
        "        if number % 2: store.seal()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    with subprocess.Popen([sys.executable, "-c", script, project.index], env=environment) as writer:
        while writer.poll() is None:
            with Index.open(project.index) as index:
                assert not index.was_changed
    assert writer.returncode == 0
    assert not was_changed(project.index)


def test_a_read_only_index_is_checked(project: Project) -> None:
    project.ingest().close()
    script = "framedex captures --all --json | grep -c '\"id\"'"
    done = on_read_only_disk(project.index.parent, f'framedex --index "$PWD/index.db" {script[9:]}')
    assert (done.stdout, done.stderr) == ("1\n", "")
    project.index.write_bytes(project.index.read_bytes().replace(b"transfer", b"transFer"))
    done = on_read_only_disk(project.index.parent, f'framedex --index "$PWD/index.db" {script[9:]}')
    assert done.stdout == "1\n"
    assert "has changed since framedex wrote it" in done.stderr


def test_locks_of_an_open_index_survive_the_check(project: Project) -> None:
    """If a process sums its open index file, another process still sees the index as open."""
    project.ingest().close()
    with Index.open(project.index) as index:
        index.captures()
        os.utime(project.index)
        assert not was_changed(project.index)
        seal.checksum(project.index)
        script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode = DELETE').fetchone()"
        done = subprocess.run([sys.executable, "-c", script, project.index], capture_output=True, text=True)
        assert "locked" in done.stderr, done
