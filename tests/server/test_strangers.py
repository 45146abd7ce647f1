"""A listening server stays usable: clients without the token, and disconnected ones, cost it little."""

from __future__ import annotations

import json
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.server.listening import Listening, listen_on_port, start
from tests.server.raw_client import SocketClient, framed
from tests.server.recording import Recording, write_index

FILES = 128
"""The server's limit of open files."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Listening]:
    home = tmp_path / "run"
    home.mkdir(mode=0o700)
    with listen_on_port(home, os.environ) as server:
        limit_files(server, FILES)
        yield server


def limit_files(server: Listening, most: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, hard))


def open_files(server: Listening) -> set[int]:
    return {int(file.name) for file in Path(f"/proc/{server.process.pid}/fd").iterdir()}


def hovers(client: SocketClient, recording: Recording, request_id: int = 1) -> bool:
    return client.request("textDocument/hover", hover_params(recording), request_id)["result"] is not None


def hover_params(recording: Recording) -> dict[str, Any]:
    position = {"line": recording.main_calls_make_input - 1, "character": 0}
    return {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\n\r\n"], ids=["silent", "refused"])
def test_connections_without_a_token_block_no_client(server: Listening, recording: Recording, first: bytes) -> None:
    with ExitStack() as strangers:
        for _ in range(3 * FILES):
            stranger = strangers.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            stranger.sendall(first)
        client = server.connect()
        server.join(client, recording.root)

        assert hovers(client, recording)
        assert len(open_files(server)) < FILES // 2
    told = server.log.read_text()
    assert "A connection was refused: " in told
    assert "Traceback" not in told
    assert len(told.splitlines()) < FILES


def test_a_joined_client_makes_no_room_for_strangers(server: Listening, recording: Recording) -> None:
    client = server.connect()
    server.join(client, recording.root)
    with ExitStack() as strangers:
        for _ in range(FILES):
            strangers.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        last = server.connect()
        server.join(last, recording.root)

        assert hovers(client, recording)


def test_without_descriptors_one_connection_is_refused_and_later_ones_accepted(
    server: Listening, recording: Recording
) -> None:
    client = server.connect()
    server.join(client, recording.root)
    assert hovers(client, recording)
    limit_files(server, min(set(range(FILES)) - open_files(server)))
    for _ in range(3):
        assert server.connect().is_closed()
    assert hovers(client, recording, 2)
    limit_files(server, FILES)
    again = server.connect()
    server.join(again, recording.root)

    assert hovers(again, recording)
    assert "Traceback" not in server.log.read_text()


def test_ended_sessions_keep_no_files_open(server: Listening, recording: Recording) -> None:
    for number in range(20):
        client = server.connect()
        server.join(client, recording.root, process_id=os.getpid())
        assert hovers(client, recording)
        client.request("shutdown", None, 2)
        client.send({"method": "exit"})
        assert client.is_closed()
        if number == 0:
            limit_files(server, max(open_files(server)) + 24)


def test_an_unread_log_stops_no_server(tmp_path: Path, recording: Recording) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    path = folder / "framedex.sock"
    with start("--socket", str(path)) as process, ExitStack() as ends:
        ends.callback(process.kill)
        assert process.stderr is not None and process.stderr.readline()
        client = SocketClient(path)
        ends.callback(client.socket.close)
        client.initialize(recording.root)
        for number in range(1, 501):
            assert "error" in client.request("textDocument/hover", {"textDocument": number}, number)
        assert hovers(client, recording, 501)
        process.terminate()
        assert process.wait(timeout=30) == 0
        assert len(process.stderr.read()) > 50_000


def test_the_first_request_is_answered_with_the_clients_settings(tmp_path: Path, recording: Recording) -> None:
    """Even though it arrives in one packet with `initialized`."""
    elsewhere = tmp_path / "elsewhere.db"
    write_index(Recording(recording.root, elsewhere), puts=6)
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    with listen_on_port(folder, os.environ) as server:
        client = server.connect()
        options = {"token": server.token, "framedex": {"index": str(elsewhere)}}
        params: dict[str, Any] = {"processId": None, "rootUri": recording.root.as_uri(), "capabilities": {}}
        client.request("initialize", {**params, "initializationOptions": options}, 0)
        messages: list[dict[str, Any]] = [
            {"method": "initialized", "params": {}},
            {"id": 1, "method": "textDocument/hover", "params": hover_params(recording)},
        ]
        client.send_bytes(b"".join(framed(json.dumps({"jsonrpc": "2.0", **each}).encode()) for each in messages))

        assert "6 recorded calls" in client.reply_to(1)["result"]["contents"]["value"]
