"""The rows of one capture, in a file of its own or in files shared by several captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.base.regularfile import MAX_FILE_BYTES
from framedex.fleet.committed import CommittedCapture, read_rows_of_capture
from framedex.fleet.compacting import compact
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet.fleets import add_to_store, job, run_query


def test_failed_reads_are_retried(tmp_path: Path) -> None:
    """A file of several captures that is temporarily unreadable, and one that is not a store file."""
    store = tmp_path / "store"
    add_to_store(store, *job())
    compact(StoreRoot(str(store)), SilentProgress())
    capture, day = run_query(store, "SELECT capture, day::VARCHAR FROM captures WHERE rank = 0")[0]
    folder = store / "captures" / f"day={day}"
    (folder / "foreign.parquet").write_bytes(b"PAR1")
    (run_compaction,) = (file for file in folder.iterdir() if len(file.stem) == 32)
    content = run_compaction.read_bytes()
    run_compaction.unlink()
    run_compaction.mkdir()
    known: dict[str, list[CommittedCapture]] = {}

    with pytest.raises(FramedexError, match="cannot be read"):
        read_rows_of_capture(StoreRoot(str(store)), capture, day, known)
    run_compaction.rmdir()
    run_compaction.write_bytes(content)

    rows = read_rows_of_capture(StoreRoot(str(store)), capture, day, known)
    assert sorted(row.is_own for row in rows) == [False, True]
    assert {row.capture for row in rows} == {capture}


def test_a_file_in_a_folder_store_may_exceed_the_source_limit(tmp_path: Path) -> None:
    """On a busy day, one file has the rows of all its captures."""
    with (tmp_path / "day.parquet").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    content = StoreRoot(str(tmp_path)).read("day.parquet")
    assert content is not None and len(content) == MAX_FILE_BYTES + 1
