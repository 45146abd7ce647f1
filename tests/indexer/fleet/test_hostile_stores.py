"""Damaged, foreign or read-only stores: files are quarantined or refused, with a remedy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture
from framedex.fleet.compacting import compact
from framedex.fleet.dropping import drop
from framedex.fleet.identities import hash_values
from framedex.fleet.schema import FRAMES, MARKER, STACKS
from framedex.fleet.store_queries import ForeignFilesError, StoreConnection
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet.fleets import JOB, add_to_store, content, copy_capture, job, run_query
from tests.pythons import ROOT


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with both ranks, which must not be changed."""
    store = tmp_path_factory.mktemp("clean") / "store"
    add_to_store(store, *job())
    return store


@pytest.fixture
def store(clean: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(clean, tmp_path / "store"))


def put(store: Path, table: str, schema: Any, *rows: Mapping[str, Any]) -> None:
    """Put a file with rows next to those of a table."""
    folder = next((store / table).rglob("*.parquet")).parent
    parquet.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema), folder / "forged.parquet")


def overwrite(file: Path) -> None:
    """Replace a file by something else."""
    parquet.write_table(pa.table({"calls": [1]}), file)


def first(store: Path, table: str, where: str = "true") -> dict[str, Any]:
    """A row of a table."""
    with StoreConnection(StoreRoot(str(store))) as connection:
        answer = connection.query(f"SELECT * FROM {table} WHERE {where} ORDER BY ALL LIMIT 1")
        return dict(zip(answer.columns, answer.rows[0], strict=True))


@pytest.mark.exhaustive(keep=["True"])
@pytest.mark.parametrize("is_together", [False, True])
def test_a_frame_is_identified_by_its_hash_despite_false_claims(*, is_together: bool, store: Path) -> None:
    before = content(store)
    frame = first(store, "frames", "line > 0 AND depth = 0")
    forged = frame | {"function": "nice", "path": "/evil.py", "known": 10**9}
    deeper = frame | {"depth": 1, "function": "inlined", "known": 10**9}
    other = forged | {"description": hash_values("made up")}
    put(store, "frames", FRAMES, forged, deeper, other)
    if is_together:
        compact(StoreRoot(str(store)), SilentProgress())
        for file in store.rglob("forged.parquet"):
            file.unlink()

    assert content(store) == before


def test_content_counts_by_its_hash_despite_false_claims(store: Path) -> None:
    before = content(store)
    frame = first(store, "frames", "line > 0 AND depth = 0")
    less = frame | {"path": None, "line": 0, "known": 10**9}
    told = [{name: less[name] for name in FRAMES.names if name not in ("id", "known", "description")}]
    put(store, "frames", FRAMES, less | {"description": hash_values(less["id"], *told)})

    assert content(store) == before


def test_a_stack_is_identified_by_its_hash(store: Path) -> None:
    before = content(store)
    stack = first(store, "stacks")
    put(store, "stacks", STACKS, stack | {"frames": [], "user_frame": None}, stack | {"outcome": "other"})

    assert content(store) == before
    compact(StoreRoot(str(store)), SilentProgress())
    assert content(store) == before


def test_a_row_of_another_capture_is_quarantined(store: Path) -> None:
    before = content(store)
    one, other = sorted((store / "captures").rglob("*.parquet"))
    row = parquet.read_table(one, partitioning=None)
    calls = row.schema.get_field_index("calls")
    forged = row.set_column(calls, "calls", pa.array([10**9]))
    parquet.write_table(forged, other)

    with StoreConnection(StoreRoot(str(store))) as connection:
        rows = connection.query("SELECT * FROM captures").rows
        (said,) = connection.left_out
    assert rows == [row for row in before["captures"] if row[0] == one.name[:32]]
    assert "is left out: its capture id differs from its file name" in said
    (refused,) = [done for done in add_to_store(store, *job()) if isinstance(done, FramedexError)]
    assert "is not a store file" in refused.message and refused.remedy
    other.unlink()
    assert all(isinstance(done, AddedCapture) for done in add_to_store(store, *job()))
    assert content(store) == before


@pytest.mark.exhaustive(keep=["day-../../../outside-its day differs"])
@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("day", "../../../outside", "its day differs"),
        ("day", "2026-11-23", "its day differs"),
        ("capture", "' OR true --", "its capture id is malformed"),
        ("part", f"day=2001-01-01/job=-/{'0' * 32}.parquet", "its part is malformed"),
    ],
)
def test_a_row_with_a_foreign_path_is_quarantined_and_the_path_unused(
    column: str, value: str, expected: str, store: Path, tmp_path: Path
) -> None:
    before = content(store)
    folder = next((store / "captures").glob("day=*"))
    outside = (store / "captures" / f"day={value}" if column == "day" else tmp_path / "outside").resolve()
    outside.mkdir(exist_ok=True)
    left = outside / "x.0123456789abcdef.part"
    left.touch()
    os.utime(left, (0, 0))
    rows = parquet.read_table(next(folder.glob("*.parquet")), partitioning=None)
    forged = [rows.to_pylist()[0] | {"part": f"{folder.name}/job=-/{'0' * 32}.parquet", column: value}]
    parquet.write_table(pa.Table.from_pylist(forged, rows.schema), folder / f"{'0' * 32}.parquet")

    compact(StoreRoot(str(store)), SilentProgress())

    assert [*outside.iterdir()] == [left]
    assert content(store) == before
    with StoreConnection(StoreRoot(str(store))) as connection:
        assert len(connection.left_out) == 1 and expected in connection.left_out[0]


def test_files_of_another_schema_are_quarantined(store: Path) -> None:
    for place, file in enumerate(sorted((store / "captures").rglob("*.parquet"))):
        rows = parquet.read_table(file, partitioning=None)
        rows = rows.drop_columns(["generation"]) if place == 0 else rows.append_column("more", pa.array(["x"]))
        parquet.write_table(rows, file)

    with StoreConnection(StoreRoot(str(store))) as connection:
        assert len(connection.query("SELECT * FROM captures").rows) == 1
        assert len(connection.left_out) == 1 and "generation" in connection.left_out[0]
    (store / MARKER).write_text(json.dumps({"format": "framedex-fleet", "version": 2}))
    with pytest.raises(FramedexError, match="version 2; this framedex supports version 1"):
        run_query(store, "SELECT 1")


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from framedex.base.errors import FramedexError
from framedex.fleet.compacting import compact
from framedex.fleet.dropping import drop
from framedex.fleet.store_root import StoreRoot
from framedex.base.progress import SilentProgress
from tests.indexer.fleet.fleets import JOB, add_to_store, run_query
if os.geteuid() == 0:
    os.setuid(65534)
store = sys.argv[1]
for work in (
    lambda: run_query(store, "SELECT count(*) FROM captures"),
    lambda: [each if isinstance(each, FramedexError) else "added" for each in add_to_store(store, Path(sys.argv[2]))],
    lambda: compact(StoreRoot(store), SilentProgress()),
    lambda: drop(StoreRoot(store), "2999-01-01", None),
):
    try:
        print(work())
    except FramedexError as error:
        print(error.message, error.remedy)
"""


@pytest.mark.exhaustive(keep=["unlink-calls-0", "<lambda>-call_kinds-1"])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("table", ["calls", "call_kinds"])
@pytest.mark.parametrize("harm", [Path.unlink, lambda file: file.write_bytes(file.read_bytes()[:-9]), overwrite])
def test_captures_with_foreign_call_files_are_quarantined(
    harm: Callable[[Path], Any], table: str, which: int, store: Path
) -> None:
    """One file is missing, truncated or foreign, the first or another: the others are still read."""
    file = sorted((store / table).rglob("*.parquet"))[which]
    row = run_query(store, f"SELECT * EXCLUDE (capture) FROM captures WHERE capture <> '{file.name[:32]}'")
    harm(file)

    with StoreConnection(StoreRoot(str(store))) as connection:
        answer = connection.query(f"SELECT capture, count(*) FROM {table} GROUP BY ALL")
        left = connection.query("SELECT * EXCLUDE (capture) FROM captures")
    refused = CliRunner().invoke(cli, ["fleet", "ranks", JOB, "--store", str(store)])
    pulled = CliRunner().invoke(cli, ["fleet", "pull", "--store", str(store), "-o", str(store.parent / "index.db")])

    assert len(answer.rows) == 1 and answer.rows[0][0] != file.name[:32] and left.rows == row
    (said,) = answer.left_out
    assert str(file) in said and "1 capture with calls there is left out. Remove " in said
    assert refused.exit_code == 1 and isinstance(refused.exception, SystemExit)
    assert isinstance(pulled.exception, SystemExit | None)
    # A segment is whole without these files: it is left out only if the damage was noticed before.
    assert pulled.exit_code == 0 or file.name[:32] in pulled.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mode", "expected"), [(0o555, "written"), (0o000, "read")])
def test_a_store_without_permission_is_reported(mode: int, expected: str) -> None:
    """Run as another user if modes do not restrict this one, in a folder open to all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture = copy_capture(job()[0], folder)
        metadata = capture / "capture.json"
        metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"identity": "0" * 16}))
        store = folder / "store"
        add_to_store(store, *job())
        before = content(store)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        folders = [store, *(path for path in store.rglob("*") if path.is_dir())]
        for path in reversed(folders):
            path.chmod(mode)
        home = folder / "home"
        home.mkdir()
        home.chmod(0o777)
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
        command = [sys.executable, "-c", WITHOUT_RIGHTS, str(store), str(capture)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=ROOT, env=environment, check=False
        )
        for path in folders:
            path.chmod(0o755)
        lines = done.stdout.splitlines()
        assert len(lines) == 4, done.stderr
        assert lines[0] == "[(2,)]" or mode == 0
        for line in lines[1 if mode else 0 :]:
            assert f"cannot be {expected}" in line or "cannot be cleaned" in line
            assert "Permission denied" in line
        assert content(store) == before


def test_calls_dropped_during_a_query_are_reported(store: Path) -> None:
    with StoreConnection(StoreRoot(str(store))) as connection:
        drop(StoreRoot(str(store)), None, JOB)
        with pytest.raises(ForeignFilesError, match="were dropped during the query"):
            connection.rows("SELECT count(*) FROM calls")
        assert connection.query("SELECT count(*) FROM calls").rows == [(0,)]


@pytest.mark.parametrize(
    "address", ["sftp://host/store", "simplecache::memory://x", "abfs://x@y/z", "nowhere://x", "zip://x"]
)
def test_addresses_without_atomic_writes_are_refused(address: str) -> None:
    with pytest.raises(FramedexError, match="is not a valid store address") as caught:
        StoreRoot(address)
    assert "s3://BUCKET/FOLDER" in caught.value.remedy


def test_memory_and_file_addresses_are_valid_stores(tmp_path: Path) -> None:
    for address in ("memory://of/mine", f"file://{tmp_path}/store"):
        add_to_store(address, *job())
        assert len(run_query(address, "SELECT * FROM captures")) == 2


def test_days_from_which_nothing_is_removed_are_reported(store: Path) -> None:
    (day,) = (store / "captures").iterdir()
    (day / "foreign.parquet").write_bytes(b"PAR1")

    for verb in ("compact", "drop"):
        choice = ["--before", "2000-01-01", "--yes"] if verb == "drop" else []
        done = CliRunner().invoke(cli, ["fleet", verb, "--store", str(store), *choice])
        assert done.exit_code == 0, done.output
        assert f"Unused files of {day.name} were kept" in " ".join(done.stderr.split())


@pytest.mark.exhaustive(keep=["captures-pipe", "calls-pipe"])
@pytest.mark.parametrize("put_in_place", [os.mkfifo, lambda file: file.symlink_to("/dev/zero")], ids=["pipe", "device"])
@pytest.mark.parametrize("table", ["captures", "calls", "call_kinds", "stacks", "frames"])
def test_a_pipe_or_device_in_a_store_is_skipped_without_blocking(
    store: Path, table: str, put_in_place: Callable[[Path], None]
) -> None:
    before = content(store)
    file = next((store / table).rglob("*.parquet"))
    file.rename(file.with_suffix(".away"))
    put_in_place(file)

    with StoreConnection(StoreRoot(str(store))) as connection:
        rows = connection.query("SELECT capture FROM captures").rows
        connection.query("SELECT count(*) FROM calls")
        (said,) = {line for line in connection.left_out if "regular file" in line}
    assert str(file) in said and (len(rows) < len(before["captures"]) or table in ("stacks", "frames"))
    assert all(isinstance(done, (AddedCapture, FramedexError)) for done in add_to_store(store, *job()))
    with suppress(FramedexError):
        compact(StoreRoot(str(store)), SilentProgress())


@pytest.mark.parametrize("name", [MARKER, "drops/pipe.json"])
def test_a_pipe_in_place_of_a_small_store_file_is_refused_by_name(store: Path, name: str) -> None:
    (store / name).parent.mkdir(exist_ok=True)
    (store / name).unlink(missing_ok=True)
    os.mkfifo(store / name)
    with pytest.raises(FramedexError) as raised:
        StoreConnection(StoreRoot(str(store)))
    assert str(store) in raised.value.message and raised.value.remedy
