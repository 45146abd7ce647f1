"""The least a client of a language server can be, so that what is measured is the server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CAPABILITIES = {
    "textDocument": {"hover": {"contentFormat": ["markdown"]}, "definition": {"linkSupport": True}},
}


class Client:
    """A server process and its pipes; one request at a time."""

    def __init__(self, command: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self._next_id = 0
        self._root = root

    def initialize(self) -> None:
        root = {"uri": self._root.as_uri(), "name": self._root.name}
        params = {"processId": os.getpid(), "rootUri": root["uri"], "workspaceFolders": [root]}
        self.request("initialize", {**params, "capabilities": CAPABILITIES})
        self.notify("initialized", {})

    def open(self, path: Path, language: str) -> None:
        """Open a document, as servers that answer for open ones only need it."""
        text = path.read_text(encoding="utf-8")
        document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def at(self, method: str, path: str | Path, line: int, character: int = 0) -> Any:
        """The answer to a request about a place; `line` is 1-based."""
        position = {"line": line - 1, "character": character}
        return self.request(method, {"textDocument": {"uri": Path(path).as_uri()}, "position": position})

    def request(self, method: str, params: Any) -> Any:
        self._next_id += 1
        self._send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._next_id and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "id" in message:  # a request of the server's, answered as by a client that has nothing to say
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """What the server has used of the processor's time up to now, in all its threads."""
        threads = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def leave(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps(message).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while header := self._process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message
