"""Several clients of one server process, each with its own session, on loopback or a Unix socket."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framedex_server.sockets import Address
from tests.server.listening import SERVER, Listening, listen_on_port, listen_on_socket, start
from tests.server.raw_client import SocketClient, framed
from tests.server.recording import Recording, record
from tests.tiers import exhaustive_unless


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's runtime folder, with a path short enough for a socket."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture(scope="module")
def on_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """A server on a port, which tests leave running."""
    with listen_on_port(tmp_path_factory.mktemp("run"), os.environ) as server:
        yield server


@pytest.fixture(scope="module")
def on_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """A server on a Unix socket, which tests leave running."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    with listen_on_socket(folder / "framedex.sock") as server:
        yield server


@pytest.fixture(params=exhaustive_unless(["on_port", "on_socket"], "on_socket"))
def server(request: pytest.FixtureRequest) -> Listening:
    """A server that tests leave running."""
    found: Listening = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=exhaustive_unless(["port", "socket"], "port"))
def server_to_end(request: pytest.FixtureRequest, home: Path) -> Iterator[Listening]:
    """A server that the test stops."""
    own = listen_on_port(home, os.environ) if request.param == "port" else listen_on_socket(home / "framedex.sock")
    with own as server:
        yield server


def hover_text(client: SocketClient, recording: Recording, request_id: int) -> str | None:
    position = {"line": recording.main_calls_make_input - 1, "character": 0}
    params = {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}
    result: dict[str, Any] | None = client.request("textDocument/hover", params, request_id)["result"]
    return result["contents"]["value"] if result else None


def test_each_client_has_its_own_workspace(server: Listening, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = record(tmp_path / "one", puts=1), record(tmp_path / "two", puts=2)
    first, second = server.connect(), server.connect()
    server.join(first, one.root)
    server.join(second, two.root)
    assert "1 recorded call," in (hover_text(first, one, 1) or "")
    assert "2 recorded calls" in (hover_text(second, two, 1) or "")


def test_a_disconnected_client_ends_only_its_session(server: Listening, recording: Recording) -> None:
    stays, leaves, vanishes = server.connect(), server.connect(), server.connect()
    for client in (stays, leaves, vanishes):
        server.join(client, recording.root)
    leaves.request("shutdown", None, 1)
    leaves.send({"method": "exit"})
    assert leaves.is_closed()
    vanishes.send_bytes(b"Content-Length: 1000\r\n\r\n{")
    vanishes.socket.close()
    assert hover_text(stays, recording, 1)
    again = server.connect()
    server.join(again, recording.root)
    assert hover_text(again, recording, 1)


def test_a_client_that_leaves_during_its_questions_is_no_error(server_to_end: Listening, recording: Recording) -> None:
    """Questions that wait for the index, and those that are read after the end of the session."""
    document = {
        "uri": recording.demo.as_uri(),
        "languageId": "python",
        "version": 1,
        "text": recording.demo.read_text(),
    }
    changes = {"changes": [{"uri": recording.demo.as_uri(), "type": 2}]}
    for leave in ("shutdown", "exit", ""):
        client = server_to_end.connect()
        server_to_end.join(client, recording.root, capabilities={"textDocument": {"publishDiagnostics": {}}})
        for _ in range(20):
            client.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
            client.send({"method": "workspace/didChangeWatchedFiles", "params": changes})
        if leave:
            client.request("shutdown", None, 1)
        if leave == "exit":
            client.send({"method": "exit"})
        client.socket.close()
    client = server_to_end.connect()
    server_to_end.join(client, recording.root)
    assert hover_text(client, recording, 1)
    assert "ERROR" not in server_to_end.log.read_text()


def test_the_death_of_a_client_process_ends_only_its_session(server: Listening, recording: Recording) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    of_editor, other = server.connect(), server.connect()
    server.join(of_editor, recording.root, process_id=editor.pid)
    server.join(other, recording.root)
    assert hover_text(of_editor, recording, 1)
    editor.kill()
    editor.communicate()
    assert of_editor.is_closed()
    assert hover_text(other, recording, 1)


def test_the_server_ends_quietly_whatever_its_clients_do(server_to_end: Listening, recording: Recording) -> None:
    """A traceback for each client would fill an unread pipe, and block the server."""
    silent, halfway, joined, gone = (server_to_end.connect() for _ in range(4))
    halfway.send_bytes(b"Content-Le")
    server_to_end.join(joined, recording.root)
    server_to_end.join(gone, recording.root)
    gone.socket.close()
    assert hover_text(joined, recording, 1)
    server_to_end.process.terminate()
    assert server_to_end.process.wait(timeout=30) == 0
    assert silent.is_closed()
    assert server_to_end.process.stderr is not None
    told = server_to_end.process.stderr.read().decode() + server_to_end.log.read_text()
    assert "Traceback" not in told, told


@pytest.mark.exhaustive
def test_an_interrupt_ends_the_server(server_to_end: Listening, recording: Recording) -> None:
    client = server_to_end.connect()
    server_to_end.join(client, recording.root)
    server_to_end.process.send_signal(signal.SIGINT)
    assert server_to_end.process.wait(timeout=30) == 0


def test_an_address_outside_the_loopback_is_refused() -> None:
    others = ("0.0.0.0:80", "192.168.0.1:80", "example.org:80", "[::]:80", "localhost.example.org:1")
    for text in (*others, "65536", "-1", "", "x", "٣"):
        with pytest.raises(ValueError):
            Address.parse(text)


def test_loopback_addresses_are_accepted() -> None:
    assert Address.parse("80") == Address("127.0.0.1", 80)
    assert Address.parse("localhost:0") == Address("127.0.0.1", 0)
    assert Address.parse("127.0.0.2:1") == Address("127.0.0.2", 1)
    assert Address.parse("[::1]:9") == Address("::1", 9)


def initialize(token: object, method: str = "initialize") -> bytes:
    options = {"token": token}
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def test_a_web_page_gets_no_answer(on_port: Listening) -> None:
    """Even one with the token: input that starts like HTTP is not a client."""
    body = initialize(on_port.token)
    lines = ("POST / HTTP/1.1", "GET / HTTP/1.1", "OPTIONS * HTTP/1.0", "")
    every_header = (
        "Host: 127.0.0.1:{port}\r\nOrigin: https://evil.example.org\r\nContent-Type: text/plain",
        "Host: rebound.example.org\r\nOrigin: http://rebound.example.org:{port}",
        "Host: localhost:{port}\r\nOrigin: null\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8",
    )
    for line, headers in product(lines, every_header):
        client = on_port.connect()
        request = f"{line}\r\n{headers.format(port=on_port.where)}\r\n".encode()
        client.send_bytes(request + framed(framed(body) + body))
        assert client.is_closed(), request


def test_an_invalid_first_message_ends_the_connection(on_port: Listening, recording: Recording) -> None:
    for content in (
        b"Content-Length: 5\r\n" * 100,
        b"Content-Type: " + b"x" * 2000 + b"\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 999999999\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"x" * 200_000,
        b"\x16\x03\x01\x02\x00\x01\x00",
        framed(b"[]"),
        framed(b"\xff"),
        framed(b"[" * 100_000),
    ):
        client = on_port.connect()
        # The server may already have closed the connection.
        with suppress(OSError):
            client.send_bytes(content)
        with suppress(OSError):
            client.socket.shutdown(socket.SHUT_WR)
        assert client.is_closed(), content[:40]
    works = on_port.connect()
    on_port.join(works, recording.root)
    assert hover_text(works, recording, 1)


def test_a_client_without_the_token_gets_an_error_and_is_disconnected(on_port: Listening) -> None:
    wrong: list[object] = [None, "", "x", 7, [], {"token": "x"}, "\udc80", "ü", True]
    for token in wrong:
        client = on_port.connect()
        client.send_bytes(framed(initialize(token)))
        error = client.reply_to(1)["error"]
        assert "initializationOptions.token" in error["message"], token
        assert client.is_closed(), token


def test_nothing_is_done_before_the_token(on_port: Listening) -> None:
    for method in ("shutdown", "framedex/captures", "workspace/executeCommand", "exit"):
        client = on_port.connect()
        client.send_bytes(framed(initialize(on_port.token, method)) + framed(initialize(on_port.token)))
        assert "error" in client.reply_to(1), method
        assert client.is_closed(), method


def test_the_token_file_is_private_and_exists_while_the_server_listens(home: Path) -> None:
    with listen_on_port(home, os.environ) as on_port:
        assert on_port.token_file is not None
        assert on_port.token_file == home / "framedex" / f"serve-{on_port.where}.token"
        assert on_port.token_file.read_text() == f"{on_port.token}\n"
        assert stat.S_IMODE(on_port.token_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(on_port.token_file.parent.stat().st_mode) == 0o700
        on_port.process.send_signal(signal.SIGTERM)
        assert on_port.process.wait(timeout=30) == 0
        assert not on_port.token_file.exists()


def test_the_socket_is_private_and_removed_with_the_server(home: Path) -> None:
    with listen_on_socket(home / "framedex.sock") as on_socket:
        assert isinstance(on_socket.where, Path)
        assert stat.S_IMODE(on_socket.where.stat().st_mode) == 0o600
        on_socket.process.send_signal(signal.SIGTERM)
        assert on_socket.process.wait(timeout=30) == 0
        assert not on_socket.where.exists()


def refusal(*arguments: str) -> str:
    """The error of a server that cannot listen."""
    done = subprocess.run([*SERVER, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    return done.stderr


def test_an_abandoned_socket_is_replaced(home: Path) -> None:
    path = home / "stale.sock"
    with start("--socket", str(path)) as process:
        assert process.stderr is not None and process.stderr.readline()
        assert "another server is listening there" in refusal("--socket", str(path))
        process.kill()
    assert path.is_socket()
    with start("--socket", str(path)) as process:
        assert process.stderr is not None
        assert b"listening" in process.stderr.readline()
        process.kill()


def test_a_file_that_is_not_the_users_socket_is_unchanged(home: Path) -> None:
    file = home / "notes.txt"
    file.write_text("mine")
    assert "not a socket" in refusal("--socket", str(file))
    assert file.read_text() == "mine"
    link = home / "link.sock"
    link.symlink_to(home / "elsewhere.sock")
    assert "not a socket" in refusal("--socket", str(link))
    assert "the folder does not exist" in refusal("--socket", str(home / "nowhere" / "x.sock"))
    assert "107 bytes" in refusal("--socket", str(home / ("x" * 120)))
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert "other users can" in refusal("--socket", str(shared / "x.sock"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's socket")
def test_the_socket_of_another_user_is_refused(home: Path) -> None:
    path = home / "theirs.sock"
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
    os.chown(path, 12345, -1)
    assert "belongs to another user" in refusal("--socket", str(path))
    assert path.is_socket()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_not_served_even_with_socket_access(home: Path) -> None:
    path = home / "framedex.sock"
    with listen_on_socket(path):
        path.chmod(0o777)
        home.chmod(0o711)
        client = f"""
import os, socket
os.setuid(12345)
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(30)
connection.connect({path.name!r})
connection.sendall({framed(initialize(None))!r})
print(connection.recv(100))
"""
        done = subprocess.run([sys.executable, "-c", client], capture_output=True, text=True, cwd=home)
    assert done.stdout == "b''\n" or "ConnectionResetError" in done.stderr or "BrokenPipe" in done.stderr, done


def test_a_port_in_use_is_reported(on_port: Listening) -> None:
    said = refusal("--tcp", str(on_port.where))
    assert "Address already in use" in said and "--socket" in said
