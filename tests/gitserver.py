"""Serve repositories on loopback: by git's `http-backend`, as plain files (the dumb protocol), or with failures."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit


@dataclass
class Served:
    """A server of the repositories below a folder.

    `requests` are the received request lines. `before` is called with the number of each POST before the answer; if it
    returns False, the connection closes without one. With `wants_password`, every request without a password is
    refused.
    """

    address: str
    requests: list[str] = field(default_factory=list)
    before: Callable[[int], bool] = lambda _number: True
    sent: int = 0
    posts: int = 0
    wants_password: bool = False


@contextmanager
def served(folder: Path, **configuration: str) -> Iterator[Served]:
    """Serve the repositories below a folder by the smart protocol; `uploadpack_allowFilter="false"` configures it."""
    with _serving(_SmartHandler, folder, configuration) as state:
        yield state


@contextmanager
def served_as_files(folder: Path) -> Iterator[Served]:
    """Serve them as files: the dumb protocol."""
    for repository in folder.glob("*.git"):
        subprocess.run(["git", "-C", repository, "update-server-info"], check=True)
    with _serving(_FilesHandler, folder, {}) as state:
        yield state


@contextmanager
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    folder: Path
    configuration: dict[str, str]
    state: Served


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler], folder: Path, configuration: dict[str, str]) -> Iterator[Served]:
    server = _Server(("127.0.0.1", 0), handler)
    server.folder, server.configuration = folder, configuration
    server.state = Served(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    @property
    def serving(self) -> _Server:
        return cast("_Server", self.server)

    def log_message(self, format: str, *arguments: Any) -> None:
        self.serving.state.requests.append(self.requestline)


class _SmartHandler(_Handler):
    def do_GET(self) -> None:
        if self.serving.state.wants_password:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="sources"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._answer(b"")

    def do_POST(self) -> None:
        state = self.serving.state
        state.posts += 1
        body = self._body()
        if not state.before(state.posts):
            self.close_connection = True
            return
        self._answer(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, body: bytes) -> None:
        """The response of git's own CGI program, started once for each request, as a web server would."""
        parts = urlsplit(self.path)
        options = list(self.serving.configuration.items())
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.serving.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_COUNT": str(len(options)),
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        for number, (name, value) in enumerate(options):
            environment |= {f"GIT_CONFIG_KEY_{number}": name.replace("_", "."), f"GIT_CONFIG_VALUE_{number}": value}
        if environment.get("GIT_PROTOCOL") and "protocol_version" in self.serving.configuration:
            environment["GIT_PROTOCOL"] = ""  # a server that supports only the old protocol
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((value for name, value in headers if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.serving.state.sent += len(content)


class _FilesHandler(SimpleHTTPRequestHandler, _Handler):
    def translate_path(self, path: str) -> str:
        return str(self.serving.folder / urlsplit(path).path.lstrip("/"))

    def log_message(self, format: str, *arguments: Any) -> None:
        self.serving.state.requests.append(self.requestline)
