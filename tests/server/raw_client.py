"""A client that speaks JSON-RPC in plain dictionaries and bytes.

For messages that a well-behaved client library, pytest-lsp, will not send, and for benchmarks/server.py, which measures
the server without its client.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO


def framed(body: bytes) -> bytes:
    """Any bytes as the body of a message."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Connection:
    """The two ends of a conversation with a server."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink

    def initialize(
        self,
        root: Path,
        process_id: int | None = None,
        request_id: int | str = 0,
        capabilities: dict[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """The reply to `initialize`; `initialized` is sent after it."""
        params = {"processId": process_id, "rootUri": root.as_uri(), "capabilities": capabilities or {}, **more}
        reply = self.request("initialize", params, request_id)
        self.send({"method": "initialized", "params": {}})
        return reply

    def request(self, method: str, params: Any, request_id: int | str) -> dict[str, Any]:
        """The reply to a request."""
        self.send({"id": request_id, "method": method, "params": params})
        return self.reply_to(request_id)

    def reply_to(self, request_id: int | str) -> dict[str, Any]:
        """The reply to an earlier request; other messages from the server are skipped."""
        while True:
            message = self.receive()
            if message.get("id") == request_id and "method" not in message:
                return message

    def wait_for(self, method: str) -> dict[str, Any]:
        """The next request or notification of this method from the server; other messages are skipped."""
        while True:
            message = self.receive()
            if message.get("method") == method:
                return message

    def answer(self, request: dict[str, Any], result: Any) -> None:
        """Reply to a request of the server's."""
        self.send({"id": request["id"], "result": result})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, completed to JSON-RPC."""
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_body(self, body: bytes) -> None:
        """Send any bytes as a message's body."""
        self.send_bytes(framed(body))

    def send_bytes(self, content: bytes) -> None:
        """Send bytes that need not be a message."""
        self._sink.write(content)
        self._sink.flush()

    def receive(self) -> dict[str, Any]:
        """The next message from the server; an error if it has exited."""
        length = None
        while header := self._source.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length is not None, "the server has ended"
        message: dict[str, Any] = json.loads(self._source.read(length))
        return message

    def end_input(self) -> None:
        """Close the server's input."""
        self._sink.close()


class RawClient(Connection):
    """A server process over stdio."""

    def __init__(
        self,
        *arguments: str,
        command: Sequence[str] = (sys.executable, "-m", "framedex_server"),
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stderr: int = subprocess.PIPE,
    ) -> None:
        self.process = subprocess.Popen(
            [*command, *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        super().__init__(self.process.stdout, self.process.stdin)  # type: ignore[arg-type]

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for stream in filter(None, (self.process.stdin, self.process.stdout, self.process.stderr)):
            stream.close()

    def exit_status(self) -> int:
        """The exit status of the server, which must exit by itself."""
        return self.process.wait(timeout=30)


class SocketClient(Connection):
    """A connection to a server that listens on a port of the loopback, or on a Unix socket."""

    def __init__(self, where: int | Path) -> None:
        if isinstance(where, int):
            self.socket = socket.create_connection(("127.0.0.1", where), timeout=30)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(30)
            self.socket.connect(str(where))
        super().__init__(self.socket.makefile("rb"), self.socket.makefile("wb"))

    def is_closed(self) -> bool:
        """Whether the server closes the connection without sending more."""
        try:
            return self._source.read(1) == b""
        except ConnectionResetError:  # it left input unread
            return True
