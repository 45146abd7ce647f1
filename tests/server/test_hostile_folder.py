"""An editor opens a folder with hostile modules and commands: none of them runs, and the server works normally."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framedex.captures import project_captures_folder
from framedex_server.jobs import IndexingWorker, record_script
from tests.hostile import HostileFolder, make_hostile
from tests.one_put import recorded_put
from tests.running import PROGRAMS, TIMEOUT
from tests.server.raw_client import RawClient

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
BY_CODE = [sys.executable, "-P", "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


@pytest.fixture(scope="module")
def capture() -> Path:
    return recorded_put()


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return make_hostile(tmp_path / "workspace")


@pytest.mark.exhaustive(keep=["script"])
@pytest.mark.parametrize("command", [[FRAMEDEX, "serve"], [*BY_CODE, "serve"]], ids=["script", "code"])
def test_a_recording_inside_is_indexed_and_nothing_runs(
    hostile: HostileFolder, capture: Path, command: Sequence[str]
) -> None:
    """The server indexes automatically in a separate process, in the editor's folder."""
    shutil.copytree(capture, project_captures_folder(hostile.folder) / capture.name)
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


@pytest.mark.exhaustive(keep=["WORKSPACE"])
@pytest.mark.asyncio
@pytest.mark.parametrize("python_path", [None, "", ".", ":", f"{PROGRAMS}:", "WORKSPACE"])
async def test_neither_worker_nor_recorder_imports_from_it(
    hostile: HostileFolder, monkeypatch: pytest.MonkeyPatch, python_path: str | None, tmp_path: Path
) -> None:
    """The server reaches the folder by its working folder, or by an inherited PYTHONPATH."""
    environment = hostile.environment()
    if python_path is not None:
        environment["PYTHONPATH"] = python_path.replace("WORKSPACE", str(hostile.folder))
        monkeypatch.setattr(sys, "path", ["", str(hostile.folder), *sys.path])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(hostile.folder)
    program = tmp_path / "program.py"
    program.write_text("print('it ran')\n")

    worker = IndexingWorker(lambda: [hostile.folder])
    request = {"do": "refresh", "index": str(tmp_path / "index.db"), "files": []}
    assert (await worker.run(request, lambda task, done, total: None))["parsed"] == 0
    process = worker._process
    worker.close()
    assert process is not None
    await process.wait()
    assert hostile.ran() == []

    printed: list[str] = []
    await record_script(program, hostile.folder, printed.append, [hostile.folder])
    assert any("nothing was recorded" in line for line in printed), printed
    assert hostile.ran(sys.executable, str(program)) == []


@pytest.mark.exhaustive(keep=[".framedex"])
@pytest.mark.parametrize("link", [".framedex", ".framedex/index.db"])
def test_an_index_behind_links_of_the_folder_is_not_written(tmp_path: Path, capture: Path, link: str) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    (elsewhere / "captures").mkdir(parents=True)
    shutil.copytree(capture, elsewhere / "captures" / capture.name)
    workspace.mkdir()
    if link == ".framedex":
        (workspace / link).symlink_to(elsewhere)
    else:
        (workspace / ".framedex").mkdir()
        (workspace / link).symlink_to(elsewhere / "index.db")
        shutil.copytree(capture, project_captures_folder(workspace) / capture.name)
    with RawClient(command=[FRAMEDEX, "serve"], cwd=workspace) as client:
        client.initialize(workspace)
        shown = client.wait_for("window/showMessage")["params"]["message"]
        (elsewhere / "index.db").write_text("somebody's")
        anew = client.request("workspace/executeCommand", {"command": "framedex.rebuildIndex"}, "anew")
        assert anew["result"] is None
        assert (elsewhere / "index.db").read_text() == "somebody's"
        (elsewhere / "index.db").unlink()
    assert f"leads to {elsewhere / 'index.db'}" in shown and "framedex --index" in shown
    done = subprocess.run([FRAMEDEX, "index"], cwd=workspace, capture_output=True, text=True)
    assert done.returncode == 1 and f"leads to {elsewhere / 'index.db'}" in done.stderr
    assert not (elsewhere / "index.db").exists()
    named = [FRAMEDEX, "--index", str(elsewhere / "index.db"), "index"]
    assert subprocess.run(named, cwd=workspace, capture_output=True).returncode == 0
    assert (elsewhere / "index.db").exists()


@pytest.mark.exhaustive
def test_pipes_in_place_of_files_do_not_block(tmp_path: Path, capture: Path) -> None:
    """A capture whose streams and sources are pipes without writers, and modules of a log that are pipes."""
    project = tmp_path / "project"
    shutil.copytree(capture, project_captures_folder(project) / capture.name)
    pipe = project / "pipe.so"
    os.mkfifo(pipe)
    os.mkfifo(project / "source.py")
    os.mkfifo(project_captures_folder(project) / capture.name / "9999.fdx")
    (project / "framedex.toml").write_text(f'sources = ["{pipe}", "/dev/zero", "."]\n')
    (project / "crash.log").write_text(f"#0 0x00007f0000001234 in put ({pipe}+0x1234)\n#1  {pipe}(+0x10) [0x7f0010]\n")
    with RawClient(command=[FRAMEDEX, "serve"], cwd=project) as client:
        client.initialize(project, capabilities={"experimental": {"framedex": {"indexChanges": True}}})
        while not _captures(client, "wait"):
            client.wait_for("framedex/didChangeIndex")
        document = {"uri": (project / "crash.log").as_uri()}
        opened = {**document, "languageId": "log", "version": 1, "text": (project / "crash.log").read_text()}
        client.send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        position = {"textDocument": document, "position": {"line": 0, "character": 3}}
        assert "result" in client.request("textDocument/definition", position, 1)
        source = {"textDocument": {"uri": (project / "source.py").as_uri()}, "position": {"line": 0, "character": 0}}
        assert "result" in client.request("textDocument/hover", source, 2)
    done = subprocess.run([FRAMEDEX, "resolve", "crash.log"], cwd=project, capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0


def _wait_for_the_index(client: RawClient) -> None:
    while (message := client.receive()).get("method") != "framedex/didChangeIndex":
        assert message.get("method") != "window/showMessage", message


def _captures(client: RawClient, request_id: str) -> list[Any]:
    found = client.request("framedex/captures", {}, request_id)["result"]
    return list(found["captures"]) if found else []
