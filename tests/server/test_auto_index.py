"""The server picks up new recordings and saved files without a restart or an `index` command."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from framedex.captures import capture_folders, project_captures_folder
from framedex.index import Store
from framedex.index.file.schema import VERSION
from framedex.ingest import SilentProgress, find_sources
from framedex.path_resolution.files import PathRule
from tests.one_put import recorded_put
from tests.pythons import ROOT
from tests.running import PROGRAMS
from tests.server.raw_client import RawClient
from tests.server.recording import Recording, write_index

PROGRESS = {"window": {"workDoneProgress": True}, "workspace": {"codeLens": {"refreshSupport": True}}}
PUT_LINE = 1 + (PROGRAMS / "one_put.py").read_text().splitlines().index("jax.device_put(np.zeros((2, 3), np.float32))")


@pytest.fixture(scope="module")
def capture() -> Path:
    """A finished recording of `one_put.py`."""
    return recorded_put()


@pytest.fixture
def client() -> Iterator[RawClient]:
    with RawClient() as started:
        yield started


def hover_text(client: RawClient, path: Path, line: int, request_id: int | str = "hover") -> str | None:
    params = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line - 1, "character": 0}}
    result: dict[str, Any] | None = client.request("textDocument/hover", params, request_id)["result"]
    return result["contents"]["value"] if result else None


def arrives(capture: Path, project: Path) -> None:
    """A recording ends in a project."""
    project_captures_folder(project).mkdir(parents=True, exist_ok=True)
    shutil.copytree(capture, project_captures_folder(project) / capture.name)


def see_work_through(client: RawClient) -> list[dict[str, Any]]:
    """Read the server's next progress to its end; return its messages."""
    request = client.wait_for("window/workDoneProgress/create")
    client.answer(request, None)
    return see_work_end(client, request["params"]["token"])


def see_work_end(client: RawClient, token: object) -> list[dict[str, Any]]:
    """Read the rest of a progress to its end; the number of its reports depends on the machine."""
    told: list[dict[str, Any]] = []
    while not told or told[-1]["kind"] != "end":
        message = client.wait_for("$/progress")
        assert message["params"]["token"] == token
        told.append(message["params"]["value"])
    return told


@pytest.mark.exhaustive(keep=["False"])
@pytest.mark.parametrize("is_early", [True, False])
def test_an_ended_recording_is_indexed_automatically(
    client: RawClient, tmp_path: Path, capture: Path, is_early: bool
) -> None:
    if is_early:
        arrives(capture, tmp_path)
    client.initialize(tmp_path, capabilities=PROGRESS)
    if not is_early:
        assert hover_text(client, PROGRAMS / "one_put.py", PUT_LINE) is None
        arrives(capture, tmp_path)
    told = see_work_through(client)
    assert told[0]["title"] == "framedex: indexing" and told[0]["cancellable"]
    assert told[-1] == {"kind": "end", "message": "done"}
    client.wait_for("workspace/codeLens/refresh")
    assert "PJRT_Client_BufferFromHostBuffer" in (hover_text(client, PROGRAMS / "one_put.py", PUT_LINE) or "")


def test_a_recording_in_a_nested_project_is_indexed(client: RawClient, tmp_path: Path, capture: Path) -> None:
    arrives(capture, tmp_path / "demo")
    client.initialize(tmp_path, capabilities=PROGRESS)
    assert see_work_through(client)[-1]["message"] == "done"
    assert (tmp_path / "demo" / ".framedex" / "index.db").is_file()


def test_with_auto_index_off_nothing_is_written(client: RawClient, tmp_path: Path, capture: Path) -> None:
    """Checked until the next two queries are answered: checks use the same thread."""
    (tmp_path / "pyproject.toml").write_text("[tool.framedex]\neditor = { auto-index = false }\n")
    arrives(capture, tmp_path)
    client.initialize(tmp_path, capabilities=PROGRESS)
    change = {"uri": (project_captures_folder(tmp_path) / capture.name / "capture.json").as_uri(), "type": 1}
    client.send({"method": "workspace/didChangeWatchedFiles", "params": {"changes": [change]}})
    for number in range(3):
        assert hover_text(client, PROGRAMS / "one_put.py", PUT_LINE, number) is None
    assert not (tmp_path / ".framedex" / "index.db").exists()


def test_an_index_written_by_another_process_is_reloaded(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root, capabilities=PROGRESS)
    assert "3 recorded calls" in (hover_text(client, recording.demo, recording.main_calls_make_input) or "")
    change = {"uri": recording.index.as_uri(), "type": 2}
    client.send({"method": "workspace/didChangeWatchedFiles", "params": {"changes": [change]}})
    write_index(recording, puts=4)
    client.wait_for("workspace/codeLens/refresh")
    assert "4 recorded calls" in (hover_text(client, recording.demo, recording.main_calls_make_input) or "")


@pytest.mark.exhaustive(keep=["textDocument/didSave"])
@pytest.mark.parametrize("method", ["textDocument/didSave", "workspace/didChangeWatchedFiles"])
def test_a_changed_source_is_read_again_at_once(client: RawClient, recording: Recording, method: str) -> None:
    """When a function of an indexed C++ source moves down a line and is saved, the index is updated at once."""

    def lines() -> dict[str, int]:
        with Store(recording.index) as store:
            return {each.name: each.line for each in store.sources.find_definitions_with_calls(str(recording.client))}

    with Store(recording.index) as store:
        with store.transaction():
            store.sources.add_root(str(recording.root))
        find_sources(store, SilentProgress())
    before = lines()
    client.initialize(recording.root, capabilities=PROGRESS)
    assert hover_text(client, recording.client, recording.client_definition)
    recording.client.write_text("// moved\n" + recording.client.read_text())
    uri = recording.client.as_uri()
    if method == "textDocument/didSave":
        client.send({"method": method, "params": {"textDocument": {"uri": uri}}})
    else:
        client.send({"method": method, "params": {"changes": [{"uri": uri, "type": 2}]}})
    while lines() == before:  # on a busy machine, the first message is for the newly opened index
        client.wait_for("workspace/codeLens/refresh")
    assert before and lines() == {name: line + 1 for name, line in before.items()}


def test_the_command_indexes_all_and_can_be_cancelled(client: RawClient, recording: Recording) -> None:
    """When the client cancels the command's progress, the request is answered and the server continues."""
    client.initialize(recording.root, capabilities=PROGRESS)
    command = {"command": "framedex.index", "arguments": [recording.demo.as_uri()]}
    holder = Store(recording.index)
    with holder, holder.transaction():  # so that it cannot finish before it is cancelled
        client.send({"id": 1, "method": "workspace/executeCommand", "params": command})
        request = client.wait_for("window/workDoneProgress/create")
        client.answer(request, None)
        assert client.wait_for("$/progress")["params"]["value"]["kind"] == "begin"
        token = request["params"]["token"]
        client.send({"method": "window/workDoneProgress/cancel", "params": {"token": token}})
        assert see_work_end(client, token)[-1] == {"kind": "end", "message": "cancelled"}
        assert client.reply_to(1)["error"]["code"] == -32800
    client.send({"id": 2, "method": "workspace/executeCommand", "params": command})
    assert see_work_through(client)[-1]["message"] == "done"
    assert client.reply_to(2)["result"]["captures"] == 0


def test_a_program_is_recorded_on_command(client: RawClient, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import jax\nprint('running')\njax.numpy.ones(3)\n")
    client.initialize(tmp_path, initializationOptions={"framedex": {"editor": {"auto-index": False}}})
    command = {"command": "framedex.record", "arguments": [script.as_uri()]}
    client.send({"id": 1, "method": "workspace/executeCommand", "params": command})
    assert client.wait_for("window/logMessage")["params"]["message"]
    assert client.reply_to(1)["result"] == 0
    assert len(capture_folders(project_captures_folder(tmp_path))) == 1


def test_path_rules_of_the_client_are_stored_in_the_index(client: RawClient, recording: Recording) -> None:
    rule = {"from": "/build", "to": str(recording.root)}
    options = {"framedex": {"path-map": [rule]}}
    client.initialize(recording.root, capabilities=PROGRESS, initializationOptions=options)
    client.send({"id": 1, "method": "workspace/executeCommand", "params": {"command": "framedex.index"}})
    see_work_through(client)
    assert client.reply_to(1)["result"] is not None
    with Store(recording.index) as store:
        assert list(store.sources.path_rules()) == [PathRule("/build", recording.root)]


@pytest.fixture
def outdated(tmp_path: Path) -> Path:
    """A project with an index of an earlier framedex."""
    archives = sorted((ROOT / "tests" / "fixtures" / "versions").glob("*.zip"))
    with zipfile.ZipFile(archives[0]) as archive:
        archive.extractall(tmp_path)
    assert version_of(tmp_path) < VERSION
    return tmp_path


def version_of(project: Path) -> int:
    with closing(sqlite3.connect(project / ".framedex" / "index.db")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_an_older_index_is_rebuilt_automatically(client: RawClient, outdated: Path) -> None:
    client.initialize(outdated, capabilities=PROGRESS)
    told = see_work_through(client)
    assert "an earlier framedex wrote" in str(told) and told[-1] == {"kind": "end", "message": "done"}
    client.wait_for("workspace/codeLens/refresh")
    listed = client.request("framedex/indexes", {}, "indexes")["result"]["indexes"]
    assert [(each["problem"], each["action"]) for each in listed] == [(None, None)]
    assert version_of(outdated) == VERSION


def test_an_index_that_cannot_be_rebuilt_is_reported_once(client: RawClient, outdated: Path) -> None:
    shutil.rmtree(outdated / ".framedex" / "captures")
    version = version_of(outdated)
    client.initialize(outdated)
    message = client.wait_for("window/showMessage")["params"]["message"]
    assert "Some of its captures or source maps are missing" in message and "framedex index --rebuild" in message
    assert version_of(outdated) == version
    (listed,) = client.request("framedex/indexes", {}, "indexes")["result"]["indexes"]
    assert listed["action"]["command"] == "framedex.rebuildIndex"


def test_without_auto_index_the_remedy_is_named(client: RawClient, outdated: Path) -> None:
    (outdated / "framedex.toml").write_text("[editor]\nauto-index = false\n")
    version = version_of(outdated)
    client.initialize(outdated)
    message = client.wait_for("window/showMessage")["params"]["message"]
    assert f"has version {version}" in message and "`framedex index`" in message
    assert version_of(outdated) == version
