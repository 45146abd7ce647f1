"""An editor opens a folder that wants to run code in framedex: nothing of it runs, and the server works as ever."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framedex.captures import captures_below
from framedex_server.jobs import Worker, record
from tests.hostile import HostileFolder, make_hostile
from tests.indexer.one_put import record_one_put
from tests.running import PROGRAMS
from tests.server.raw_client import RawClient

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
BY_CODE = [sys.executable, "-P", "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_one_put(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return make_hostile(tmp_path / "workspace")


@pytest.mark.parametrize("command", [[FRAMEDEX, "serve"], [*BY_CODE, "serve"]], ids=["script", "code"])
def test_a_recording_below_it_is_indexed_and_nothing_runs(
    hostile: HostileFolder, capture: Path, command: Sequence[str]
) -> None:
    """The server indexes by itself, in a process of its own, in the folder that the editor has opened."""
    shutil.copytree(capture, captures_below(hostile.folder) / capture.name)
    with RawClient(command=command, cwd=hostile.folder, env=hostile.environment()) as client:
        capabilities = {"experimental": {"framedex": {"indexChanges": True}}}
        client.initialize(hostile.folder, capabilities=capabilities)
        assert _captures(client, "first") == []
        while not _captures(client, "again"):
            _wait_for_the_index(client)
        saved = {"textDocument": {"uri": (PROGRAMS / "one_put.py").as_uri()}}
        client.send({"method": "textDocument/didSave", "params": saved})
        commanded = {"command": "framedex.index", "arguments": [hostile.folder.as_uri()]}
        assert client.request("workspace/executeCommand", commanded, "index")["result"]["captures"] >= 0
        assert client.request("shutdown", None, "end")["result"] is None
    assert hostile.ran() == []


@pytest.mark.asyncio
@pytest.mark.parametrize("python_path", [None, "", ".", ":", f"{PROGRAMS}:", "WORKSPACE"])
async def test_neither_worker_nor_recorder_import_from_it(
    hostile: HostileFolder, monkeypatch: pytest.MonkeyPatch, python_path: str | None, tmp_path: Path
) -> None:
    """However the server came to look there: its working folder, or a PYTHONPATH that a shell has handed on."""
    environment = hostile.environment()
    if python_path is not None:
        environment["PYTHONPATH"] = python_path.replace("WORKSPACE", str(hostile.folder))
        monkeypatch.setattr(sys, "path", ["", str(hostile.folder), *sys.path])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(hostile.folder)
    program = tmp_path / "program.py"
    program.write_text("print('it ran')\n")

    worker = Worker(lambda: [hostile.folder])
    request = {"do": "refresh", "index": str(tmp_path / "index.db"), "files": []}
    assert (await worker.run(request, lambda task, done, total: None))["parsed"] == 0
    process = worker._process
    worker.close()
    assert process is not None
    await process.wait()
    assert hostile.ran() == []

    printed: list[str] = []
    await record(program, hostile.folder, printed.append, [hostile.folder])
    assert any("nothing was recorded" in line for line in printed), printed
    assert hostile.ran(sys.executable, str(program)) == []


def _wait_for_the_index(client: RawClient) -> None:
    while (message := client.receive()).get("method") != "framedex/didChangeIndex":
        assert message.get("method") != "window/showMessage", message


def _captures(client: RawClient, request_id: str) -> list[Any]:
    found = client.request("framedex/captures", {}, request_id)["result"]
    return list(found["captures"]) if found else []
