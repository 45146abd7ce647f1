"""The index appears, disappears, breaks and is replaced under a running server, which reports it once and continues."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.index import Store
from framedex_server.protocol import INDEX_COMMAND, REBUILD_COMMAND
from tests.indexer.privileges import dropping_privileges
from tests.server.conftest import SERVER
from tests.server.lsp_requests import Connect, definition, hover
from tests.server.recording import Recording, record, write_index

pytestmark = pytest.mark.asyncio

Damage = Callable[[Path], None]


async def recorded_calls(client: LanguageClient, recording: Recording) -> int | None:
    """The number of calls in the hover on a demo line; None without a hover."""
    text = await hover(client, recording.demo, recording.main_calls_make_input)
    return int(text.split()[1]) if text else None


def warnings(client: LanguageClient) -> list[str]:
    """The server's messages in the editor."""
    return [shown.message for shown in client.messages]


async def test_a_missing_index_is_logged_once_and_its_creation_noticed(tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "demo.py").touch()
    client = await connect(tmp_path)
    assert await hover(client, tmp_path / "demo.py", 8) is None
    assert await definition(client, tmp_path / "demo.py", 8) == []
    assert warnings(client) == []
    assert [logged.type for logged in client.log_messages] == [types.MessageType.Info]
    assert "framedex run" in client.log_messages[0].message

    recording = record(tmp_path)
    assert await recorded_calls(client, recording) == 3


async def test_a_named_index_that_is_missing_is_shown_once(recording: Recording, connect: Connect) -> None:
    elsewhere = recording.root / "elsewhere.db"
    client = await connect(recording.root, arguments=("--index", str(elsewhere)))
    assert await recorded_calls(client, recording) is None
    assert await recorded_calls(client, recording) is None
    (message,) = warnings(client)
    assert str(elsewhere) in message
    assert "framedex index" in message

    recording.index.rename(elsewhere)
    assert await recorded_calls(client, recording) == 3


def overwrite(index: Path) -> None:
    index.write_bytes(b"this is no database, and never was one. " * 1000)


def empty(index: Path) -> None:
    index.write_bytes(b"")


def cut_in_half(index: Path) -> None:
    with index.open("r+b") as file:
        file.truncate(index.stat().st_size // 2)


def of_another_version(index: Path) -> None:
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


def lacking_a_table(index: Path) -> None:
    connection = sqlite3.connect(index)
    connection.execute("DROP TABLE line_calls")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def remove(index: Path) -> None:
    index.unlink()


def make_a_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


ALL_DAMAGE: list[Damage] = [
    overwrite,
    empty,
    cut_in_half,
    of_another_version,
    lacking_a_table,
    remove,
    make_a_folder,
]


@pytest.mark.exhaustive(keep=["overwrite", "remove"])
@pytest.mark.parametrize("damage", ALL_DAMAGE)
async def test_a_damaged_index_at_start_is_reported_once_and_its_repair_noticed(
    recording: Recording, connect: Connect, damage: Damage
) -> None:
    spare = _spare_copy(recording)
    _settle(recording.index)
    damage(recording.index)
    client = await connect(recording.root, arguments=("--index", str(recording.index)))
    for _ in range(3):
        assert await recorded_calls(client, recording) is None
    assert len(warnings(client)) == 1

    _replace(recording.index, spare)
    assert await recorded_calls(client, recording) == 3


@pytest.mark.exhaustive(keep=["cut_in_half", "of_another_version"])
@pytest.mark.parametrize("damage", ALL_DAMAGE)
async def test_an_index_damaged_while_it_is_open_does_not_end_the_server(
    recording: Recording, connect: Connect, damage: Damage
) -> None:
    spare = _spare_copy(recording)
    client = await connect(recording.root, arguments=("--index", str(recording.index)))
    assert await recorded_calls(client, recording) == 3

    _settle(recording.index)
    damage(recording.index)
    for _ in range(3):
        await recorded_calls(client, recording)  # from SQLite's memory, or no answer
    assert len(warnings(client)) <= 1

    _replace(recording.index, spare)
    assert await recorded_calls(client, recording) == 3


async def test_a_removed_index_is_reported_once(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await recorded_calls(client, recording) == 3

    spare = _spare_copy(recording)
    recording.index.unlink()
    for _ in range(2):
        assert await recorded_calls(client, recording) is None
    (told,) = warnings(client)
    assert str(recording.index) in told and "framedex index" in told

    _replace(recording.index, spare)
    assert await recorded_calls(client, recording) == 3


async def test_a_replaced_index_is_opened_again(
    recording: Recording, connect: Connect, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client = await connect(recording.root)
    assert await recorded_calls(client, recording) == 3

    other = tmp_path_factory.mktemp("other") / "index.db"
    write_index(Recording(recording.root, other), puts=8)
    _settle(other)
    _replace(recording.index, other)
    assert await recorded_calls(client, recording) == 8
    assert warnings(client) == []


async def test_an_index_rebuilt_in_place_is_read_again(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await recorded_calls(client, recording) == 3
    with Store(recording.index) as store:
        store.clear()
    assert await recorded_calls(client, recording) is None
    write_index(recording, puts=5)
    assert await recorded_calls(client, recording) == 5
    assert warnings(client) == []


async def test_an_active_writer_does_not_block_readers(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    with Store(recording.index) as store, store.transaction():
        assert await recorded_calls(client, recording) == 3
    assert warnings(client) == []


async def test_a_locked_index_is_reported_and_used_once_unlocked(recording: Recording, connect: Connect) -> None:
    _settle(recording.index)
    holder = sqlite3.connect(recording.index, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    client = await connect(recording.root)
    assert await recorded_calls(client, recording) is None
    (message,) = warnings(client)
    assert "another process" in message

    holder.execute("ROLLBACK")
    holder.close()
    assert await recorded_calls(client, recording) == 3


class TestWhichIndex:
    """The nearest index above a document of the workspace; the workspace's own for files outside it."""

    async def test_a_subfolder_with_its_own_index_answers_from_it(self, recording: Recording, connect: Connect) -> None:
        inner = recording.root / "inner"
        inner.mkdir()
        nested = record(inner, puts=9)
        client = await connect(recording.root)
        assert await recorded_calls(client, nested) == 9
        assert await recorded_calls(client, recording) == 3

    async def test_a_library_outside_the_workspace_uses_the_index_of_the_workspace(
        self, tmp_path: Path, connect: Connect
    ) -> None:
        workspace, library = tmp_path / "workspace", tmp_path / "library"
        workspace.mkdir()
        library.mkdir()
        # The library has its own index of another recording.
        elsewhere = record(library, puts=1)
        write_index(Recording(elsewhere.root, workspace / ".framedex" / "index.db"), puts=6)
        client = await connect(workspace)
        assert await recorded_calls(client, elsewhere) == 6


async def test_an_inaccessible_folder_is_skipped(recording: Recording, connect: Connect) -> None:
    """With a .framedex of mode 000 between a document and its index, the index above it answers."""
    closed = recording.root / "inner" / ".framedex"
    closed.mkdir(parents=True)
    (closed.parent / "new.py").write_text("1\n")
    drop = dropping_privileges()
    closed.chmod(0)
    try:
        client = await connect(recording.root, command=(*drop, *SERVER))
        assert await hover(client, closed.parent / "new.py", 1) is None
        assert await recorded_calls(client, recording) == 3
        assert warnings(client) == []
    finally:
        closed.chmod(0o755)


def _spare_copy(recording: Recording) -> Path:
    _settle(recording.index)
    spare = recording.root / "spare.db"
    shutil.copy(recording.index, spare)
    return spare


def _settle(index: Path) -> None:
    """Move all content of the write-ahead log into the file itself."""
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _replace(index: Path, new: Path) -> None:
    """Replace an index by another complete one, as a careful tool does."""
    for suffix in ("-wal", "-shm", ".seal"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    if index.is_dir():
        index.rmdir()
    staged = index.with_name("staged.db")
    shutil.copy(new, staged)
    staged.replace(index)


@pytest.mark.exhaustive(keep=[INDEX_COMMAND])
@pytest.mark.parametrize("command", [INDEX_COMMAND, REBUILD_COMMAND])
async def test_a_missing_project_folder_is_not_created_for_its_index(
    tmp_path: Path, connect: Connect, command: str
) -> None:
    client = await connect(tmp_path)
    absent = tmp_path / "absent"
    params = types.ExecuteCommandParams(command, [(absent / "program.py").as_uri()])

    assert await client.workspace_execute_command_async(params) is None

    (message,) = warnings(client)
    assert str(absent) in message
    assert not absent.exists()
