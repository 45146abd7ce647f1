"""A client that speaks bytes, for what a well-behaved client library will not send."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any


class RawClient:
    """A server process and its pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "framedex_server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def initialize(self, root: Path, process_id: int | None = None, request_id: int | str = 0) -> dict[str, Any]:
        """The reply to `initialize`; `initialized` is sent after it."""
        params: dict[str, Any] = {"processId": process_id, "rootUri": root.as_uri(), "capabilities": {}}
        reply = self.request("initialize", params, request_id)
        self.send({"method": "initialized", "params": {}})
        return reply

    def request(self, method: str, params: Any, request_id: int | str) -> dict[str, Any]:
        """The reply to a request."""
        self.send({"id": request_id, "method": method, "params": params})
        return self.reply_to(request_id)

    def reply_to(self, request_id: int | str) -> dict[str, Any]:
        """The reply to a request sent before; other messages from the server are passed over."""
        while True:
            message = self.receive()
            if message.get("id") == request_id and "method" not in message:
                return message

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, completed to JSON-RPC."""
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_body(self, body: bytes) -> None:
        """Send any bytes as a message's body."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message from the server; an error if it has ended."""
        assert self.process.stdout is not None
        length = None
        while header := self.process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length is not None, "the server has ended"
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def end_input(self) -> None:
        """Close the server's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def exit_status(self) -> int:
        """The exit status of the server, which is expected to end by itself."""
        return self.process.wait(timeout=30)
