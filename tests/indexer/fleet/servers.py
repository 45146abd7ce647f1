"""S3 on loopback: moto's server, and a proxy that lets a test observe, delay or fail each request."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_DEFAULT_REGION": "us-east-1"}
BUCKET = "fleet"

DROPPED = 0
"""No answer: the connection is closed."""


@contextmanager
def moto() -> Iterator[tuple[str, int]]:
    """A server with an empty bucket, as host and port: a context manager.

    All servers of a process share their content, so it is removed at the start.
    """
    import boto3  # here: all workers import this module, and only one needs it
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
        boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
        ).create_bucket(Bucket=BUCKET)
        yield host, port
    finally:
        server.stop()


@contextmanager
def before(server: tuple[str, int], met: Callable[[str, str], int | None]) -> Iterator[str]:
    """The address of a proxy server: a context manager.

    `met` is called with the method and path of each request, on a separate thread. It returns the status of the answer,
    `DROPPED`, or None to forward the request.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = met(self.command, self.path)
            if status == DROPPED:
                self.close_connection = True
            elif status is not None:
                self._send(status, {}, b"")
            else:
                connection = http.client.HTTPConnection(*server)
                headers = {name: value for name, value in self.headers.items() if name != "Expect"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                self._send(answer.status, dict(answer.getheaders()), answer.read())
                connection.close()

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815 - as the library calls them

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            length = headers.pop("Content-Length", str(len(body)))
            for name, value in headers.items():
                if name not in ("Connection", "Transfer-Encoding"):  # of the other connection
                    self.send_header(name, value)
            self.send_header("Content-Length", length if self.command == "HEAD" else str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.daemon_threads = True
        thread = Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_address[1]}"
        finally:
            proxy.shutdown()
            thread.join()
