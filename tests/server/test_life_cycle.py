"""Start, exit and malformed messages: every request is answered, and no process stays."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from framedex.base.version import VERSION
from framedex_server.server import FramedexServer
from tests.server.raw_client import RawClient
from tests.server.recording import Recording

METHODS = ("textDocument/hover", "textDocument/definition", "textDocument/prepareCallHierarchy")
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602
NOT_INITIALIZED = -32002


@pytest.fixture
def client() -> Iterator[RawClient]:
    with RawClient() as started:
        yield started


def hover_params(path: Path, line: Any, character: Any = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}


def test_the_server_announces_its_capabilities(client: RawClient, tmp_path: Path) -> None:
    result = client.initialize(tmp_path)["result"]
    offered = result["capabilities"]
    assert result["serverInfo"] == {"name": "framedex", "version": VERSION}
    assert all(offered[name] for name in ("definitionProvider", "hoverProvider", "callHierarchyProvider"))


def test_shutdown_then_exit_succeeds(client: RawClient, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    assert client.request("shutdown", None, 1)["result"] is None
    client.send({"method": "exit"})
    assert client.exit_status() == 0


def test_exit_without_shutdown_is_a_failure(client: RawClient, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    client.send({"method": "exit"})
    assert client.exit_status() == 1


def test_end_of_input_ends_the_server(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    client.request("textDocument/hover", hover_params(recording.demo, 7), 1)
    client.end_input()
    assert client.exit_status() == 1


def test_an_interrupt_ends_the_server_silently(client: RawClient, tmp_path: Path) -> None:
    """After Ctrl-C on a manually started server, the terminal is free again."""
    client.initialize(tmp_path)
    client.process.send_signal(signal.SIGINT)
    assert client.exit_status() == -signal.SIGINT
    assert client.process.stderr and client.process.stderr.read() == b""


def test_end_of_input_before_initialize_ends_the_server(client: RawClient) -> None:
    client.end_input()
    assert client.exit_status() == 1


def test_the_death_of_the_client_process_ends_the_server(client: RawClient, tmp_path: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    client.initialize(tmp_path, process_id=editor.pid)
    client.request("shutdown", None, 1)  # answered: so `initialized` has been handled
    editor.kill()
    editor.wait()
    assert client.exit_status() == 1


def test_a_client_on_another_machine_may_name_an_unknown_process(client: RawClient, tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    client.initialize(tmp_path, process_id=gone.pid)
    assert client.request("shutdown", None, 1)["result"] is None


MALFORMED_POSITIONS: list[Any] = [
    {"line": -1, "character": 0},
    {"line": 0, "character": -1},
    {"line": 2**31, "character": 0},
    {"line": "7", "character": None},
    {"line": 7},
    [],
    None,
    "",
]


@pytest.mark.exhaustive(keep=["textDocument/hover"])
@pytest.mark.parametrize("method", METHODS)
def test_a_malformed_position_is_answered_with_an_error(client: RawClient, recording: Recording, method: str) -> None:
    client.initialize(recording.root)
    for request_id, position in enumerate(MALFORMED_POSITIONS, start=1):
        params = {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}
        assert client.request(method, params, request_id)["error"]["code"] == INVALID_PARAMS, position
    assert client.request("textDocument/hover", hover_params(recording.demo, 7), 100)["result"]["contents"]


@pytest.mark.exhaustive(keep=["stepIn", "why"])
@pytest.mark.parametrize("method", ["stepIn", "stacks", "callsThrough", "why"])
def test_custom_requests_refuse_malformed_positions(client: RawClient, recording: Recording, method: str) -> None:
    client.initialize(recording.root)
    document = {"textDocument": {"uri": recording.demo.as_uri()}, "request": "framedex/stepIn"}
    for request_id, position in enumerate((*MALFORMED_POSITIONS[:-1], {"line": True, "character": 0}), start=1):
        reply = client.request(f"framedex/{method}", {**document, "position": position}, request_id)
        if position is not None or method != "why":
            assert reply["error"]["code"] == INVALID_PARAMS, position


def test_a_position_outside_the_document_is_not_an_error(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    places = [(2**31 - 1, 0), (7, 2**31 - 1), (10_000, 10_000)]
    for request_id, (method, (line, character)) in enumerate(product(METHODS, places), start=1):
        assert "error" not in client.request(method, hover_params(recording.demo, line, character), request_id)


def test_an_odd_uri_is_not_an_error(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    uris = ["", "file://", "file:///%00", "file:///nowhere/at%20all.py", "http://[", "\udc80", "::", "a.fdtrace"]
    for request_id, (method, uri) in enumerate(product(METHODS, uris), start=1):
        params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        assert client.request(method, params, request_id)["result"] is None, uri


def test_bodies_that_are_not_messages_are_ignored(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    for body in (
        b"{",
        b"[]",
        b"1",
        b'"x"',
        b"{}",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": 1}',
        b"\xff",
    ):
        client.send_body(body)
    assert client.request("textDocument/hover", hover_params(recording.demo, 7), 1)["result"]["contents"]


def test_an_unknown_method_is_answered_with_an_error(client: RawClient, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    assert client.request("framedex/nonsense", {"a": 1}, "one")["error"]["code"] == METHOD_NOT_FOUND


def test_an_impossible_id_has_no_result(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    assert client.request("framedex/traceDocument", {"call": 1 << 70}, 1)["result"] is None
    lens = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}
    odd = {**lens, "data": {"path": str(recording.demo), "function": 1 << 70}}
    assert client.request("codeLens/resolve", odd, 2)["result"]["command"]["title"] == "no longer recorded"


def test_a_second_initialize_is_refused(client: RawClient, recording: Recording) -> None:
    hover = "textDocument/hover", hover_params(recording.demo, 7)
    assert client.request(*hover, 1)["error"]["code"] == NOT_INITIALIZED
    assert client.request("framedex/captures", {}, 2)["error"]["code"] == NOT_INITIALIZED
    client.initialize(recording.root, request_id=3)
    assert client.initialize(recording.root.parent, request_id=4)["error"]["code"] == INVALID_REQUEST
    assert client.request(*hover, 5)["result"]["contents"]


def test_a_request_after_shutdown_is_refused(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    client.request("shutdown", None, 1)
    reply = client.request("textDocument/hover", hover_params(recording.demo, 7), 2)
    assert reply["error"]["code"] == INVALID_REQUEST


def test_ids_may_be_strings(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root, request_id="first")
    assert client.request("textDocument/hover", hover_params(recording.demo, 7), "second")["result"]["contents"]


def test_every_interleaved_or_cancelled_request_is_answered(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    wanted = range(1, 51)
    for request_id in wanted:
        client.send({"id": request_id, "method": "textDocument/hover", "params": hover_params(recording.demo, 7)})
        if request_id % 2:
            client.send({"method": "$/cancelRequest", "params": {"id": request_id}})
    answered = {message["id"]: message for message in (client.receive() for _ in wanted)}
    assert sorted(answered) == list(wanted)
    assert all("result" in answered[request_id] for request_id in wanted if request_id % 2 == 0)


def test_caller_searches_can_be_cancelled_without_delaying_other_requests(
    client: RawClient, recording: Recording
) -> None:
    client.initialize(recording.root)
    place = hover_params(recording.demo, recording.make_input_calls_device_put - 1)
    (item,) = client.request("textDocument/prepareCallHierarchy", place, "item")["result"]
    searches, hovers = range(100, 130), range(200, 230)
    for search, hover in zip(searches, hovers, strict=True):
        client.send({"id": search, "method": "callHierarchy/incomingCalls", "params": {"item": item}})
        client.send({"id": hover, "method": "textDocument/hover", "params": place})
        if search % 2:
            client.send({"method": "$/cancelRequest", "params": {"id": search}})
    answered = {message["id"]: message for message in (client.receive() for _ in range(60))}
    assert sorted(answered) == [*searches, *hovers]
    assert all("result" in answered[each] for each in (*searches[::2], *hovers))


def test_the_log_goes_to_the_named_file_and_never_to_stdout(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with RawClient("--index", str(tmp_path / "missing.db"), "--log-file", str(log)) as client:
        client.initialize(tmp_path)
        client.request("textDocument/hover", hover_params(tmp_path / "a.py", 0), 1)
        client.request("shutdown", None, 2)
        client.send({"method": "exit"})
        assert client.exit_status() == 0
        assert client.process.stdout is not None
        assert client.process.stdout.read() == b""
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""
    assert "missing.db" in log.read_text()


def test_messages_are_read_even_if_the_client_process_cannot_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no watches are left")

    monkeypatch.setattr("framedex_server.server.call_on_process_end", failing)
    server = FramedexServer()
    server.process_id = os.getpid()
    server.protocol.may_read.clear()
    with pytest.raises(OSError, match="no watches are left"):
        asyncio.run(server.protocol.fm.features["initialized"](types.InitializedParams()))
    assert server.protocol.may_read.is_set()
