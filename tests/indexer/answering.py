"""A loopback web server with answers that a test configures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A loopback server with configurable answers, which records its requests."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Answering], None]) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.is_over = threading.Event()
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.answer(self)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def give(self, content: bytes, size: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if size is None else size))
        self.end_headers()
        self.wfile.write(content)


Started = Callable[[Callable[[Answering], None]], Server]
"""Start a server that stops with the test."""
