"""Several clients of one server process, each with a session of its own, on the loopback."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from framedex_server.sockets import Address
from tests.server.raw_client import SocketClient
from tests.server.recording import Recording, record

Connect = Callable[[], SocketClient]


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "framedex_server", "--tcp", "0"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def connect(server: subprocess.Popen[bytes]) -> Iterator[Connect]:
    """Makes connections to the server."""
    assert server.stderr is not None
    port = int(server.stderr.readline().rpartition(b":")[2])
    with ExitStack() as stack:

        def start() -> SocketClient:
            client = SocketClient(port)
            stack.callback(client.socket.close)
            return client

        yield start


def hover_text(client: SocketClient, recording: Recording, request_id: int) -> str | None:
    position = {"line": recording.main_calls_make_input - 1, "character": 0}
    params = {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}
    result: dict[str, Any] | None = client.request("textDocument/hover", params, request_id)["result"]
    return result["contents"]["value"] if result else None


def test_each_client_has_its_own_workspace(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = record(tmp_path / "one", puts=1), record(tmp_path / "two", puts=2)
    first, second = connect(), connect()
    first.initialize(one.root)
    second.initialize(two.root)
    assert "1 recorded call," in (hover_text(first, one, 1) or "")
    assert "2 recorded calls" in (hover_text(second, two, 1) or "")


def test_a_client_that_leaves_ends_its_session_only(connect: Connect, recording: Recording) -> None:
    stays, leaves, vanishes = connect(), connect(), connect()
    for client in (stays, leaves, vanishes):
        client.initialize(recording.root)
    leaves.request("shutdown", None, 1)
    leaves.send({"method": "exit"})
    assert leaves.is_closed()
    vanishes._sink.write(b"Content-Length: 1000\r\n\r\n{")
    vanishes._sink.flush()
    vanishes.socket.close()
    assert hover_text(stays, recording, 1)
    again = connect()
    again.initialize(recording.root)
    assert hover_text(again, recording, 1)


def test_the_death_of_a_clients_process_ends_its_session_only(connect: Connect, recording: Recording) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    of_editor, other = connect(), connect()
    of_editor.initialize(recording.root, process_id=editor.pid)
    other.initialize(recording.root)
    assert hover_text(of_editor, recording, 1)
    editor.kill()
    editor.communicate()
    assert of_editor.is_closed()
    assert hover_text(other, recording, 1)


def test_an_interrupt_ends_the_server(connect: Connect, server: subprocess.Popen[bytes], recording: Recording) -> None:
    client = connect()
    client.initialize(recording.root)
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=30) == 0


@pytest.mark.parametrize("text", ["0.0.0.0:80", "192.168.0.1:80", "example.org:80", "[::]:80", "65536", "-1", "", "x"])
def test_an_address_that_is_not_the_loopbacks_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Address.parse(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("80", Address("127.0.0.1", 80)),
        ("localhost:0", Address("localhost", 0)),
        ("127.0.0.2:1", Address("127.0.0.2", 1)),
        ("[::1]:9", Address("::1", 9)),
    ],
)
def test_an_address_of_the_loopback(text: str, address: Address) -> None:
    assert Address.parse(text) == address
