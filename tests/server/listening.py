"""A listening server process, for several clients."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.server.raw_client import SocketClient

SERVER = [sys.executable, "-m", "framedex_server"]


@dataclass
class Listening:
    """A server that listens on a port or a Unix socket, with the token that its clients send."""

    process: subprocess.Popen[bytes]
    where: int | Path
    log: Path
    token: str | None = None
    token_file: Path | None = None
    clients: ExitStack = field(default_factory=ExitStack)

    @property
    def port(self) -> int:
        assert isinstance(self.where, int)
        return self.where

    def connect(self) -> SocketClient:
        """A client whose connection is closed with the server."""
        client = SocketClient(self.where)
        self.clients.callback(client.socket.close)
        return client

    def join(self, client: SocketClient, root: Path, **more: Any) -> dict[str, Any]:
        """The reply to a client's `initialize`, with the token."""
        return client.initialize(root, initializationOptions={"token": self.token}, **more)


def start(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a server whose standard error is a pipe."""
    command = [*SERVER, *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


@contextmanager
def listen_on_port(home: Path, environment: Mapping[str, str]) -> Iterator[Listening]:
    """A server on a free port, killed at the end. Its token and its log, `server.log`, are below `home`."""
    home.chmod(0o700)
    given = {**environment, "XDG_RUNTIME_DIR": str(home)}
    # A log in a file: an unread pipe would block the server.
    log = home / "server.log"
    with start("--tcp", "0", "--log-file", str(log), environment=given) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(b":")[2])
        told = re.search(r"the token (\S+) as .* also in (\S+)", process.stderr.readline().decode())
        assert told
        server = Listening(process, port, log, told[1], Path(told[2]))
        with server.clients:
            server.clients.callback(process.kill)
            yield server


@contextmanager
def listen_on_socket(path: Path) -> Iterator[Listening]:
    """A server on a Unix socket, killed at the end. Its log is beside the socket."""
    log = path.with_suffix(".log")
    with start("--socket", str(path), "--log-file", str(log)) as process:
        assert process.stderr is not None
        assert process.stderr.readline().decode() == f"framedex: listening on {path}\n"
        server = Listening(process, path, log)
        with server.clients:
            server.clients.callback(process.kill)
            yield server
