"""A client that measures the server in front of it; its messages are those of the tests' client, which costs least."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.server.raw_client import RawClient

CAPABILITIES = {
    "textDocument": {"hover": {"contentFormat": ["markdown"]}, "definition": {"linkSupport": True}},
}


class Client(RawClient):
    """A server process and its pipes; one request at a time."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        super().__init__(command=command, stderr=subprocess.DEVNULL)  # a pipe that nobody reads fills up
        self._ids = count(1)
        folder = {"uri": root.as_uri(), "name": root.name}
        self.initialize(root, capabilities=CAPABILITIES, workspaceFolders=[folder])

    def open(self, path: Path, language: str) -> None:
        """Open a document, as servers that answer for open ones only need it."""
        text = path.read_text(encoding="utf-8")
        document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def at(self, method: str, path: str | Path, line: int, character: int = 0) -> Any:
        """The answer to a request about a place; `line` is 1-based."""
        position = {"line": line - 1, "character": character}
        return self.ask(method, {"textDocument": {"uri": Path(path).as_uri()}, "position": position})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises RuntimeError where it is refused."""
        reply = self.request(method, params, next(self._ids))
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def receive(self) -> dict[str, Any]:
        """The next message; a request of the server's is answered as by a client that has nothing to say."""
        message = super().receive()
        if "id" in message and "method" in message:
            self.answer(message, None)
        return message

    def resident_megabytes(self) -> float:
        """What the server has in memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """What the server has used of the processor's time up to now, in all its threads."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def leave(self) -> None:
        """End the server as an editor does."""
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        self.process.wait()
