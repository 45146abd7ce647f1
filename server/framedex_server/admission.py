"""Admission control of a listening server: admit only programs of its user, and no web pages.

A page in a browser can post to any loopback port, under any host name, and other users of the machine can connect.
Therefore a connection must start with an LSP header, which HTTP requests do not have. Its first message must be an
`initialize` with the server's token in `initializationOptions.token`, which every editor can send. Until then, the
server receives no message.
"""

from __future__ import annotations

import json
import os
import re
import stat
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from framedex.base.errors import FramedexError
from framedex.base.folders import user_folder
from framedex_server.protocol import parse_content_length

MAX_HEADER_BYTES = 1024
"""Maximum length of one header line, in bytes."""

MAX_HEADERS = 8

MAX_FIRST_MESSAGE_BYTES = 1 << 22
"""Maximum length of the first message, in bytes: the longest `initialize` of an editor has some 50,000."""

_CONTENT_TYPE = re.compile(rb"content-type: *[^\0]*", re.IGNORECASE)
_SERVER_NOT_INITIALIZED = -32002  # the LSP specification, ErrorCodes


class RefusedError(Exception):
    """Raised when a connection is refused; the text goes to the server's log."""


class AdmittedStream:
    """Reads the bytes of an admitted connection from its first message on, like a StreamReader."""

    def __init__(self, first: bytes, rest: StreamReader) -> None:
        self._first = BytesIO(b"Content-Length: %d\r\n\r\n%s" % (len(first), first))
        self._rest = rest

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""
        return self._first.readline() or await self._rest.readline()

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""
        return self._first.read(count) or await self._rest.readexactly(count)


async def admit(reader: StreamReader, writer: StreamWriter, token: str | None) -> AdmittedStream:
    """Read the first message of a connection and check its token, if `token` is set.

    Raises RefusedError if the token is missing or wrong. A client that sent a request gets an error reply first.
    """
    body = await _read_first_body(reader)
    if token is not None:
        from secrets import compare_digest

        message = _parse_message(body)
        client_token = _find_token(message)
        if client_token is None or not compare_digest(client_token.encode("utf-8", "replace"), token.encode()):
            if isinstance(message.get("id"), int | str):
                _send_refusal(writer, message["id"])
            raise RefusedError(f"{message.get('method')!r:.60} came without a valid token")
    return AdmittedStream(body, reader)


async def _read_first_body(reader: StreamReader) -> bytes:
    length = None
    for _ in range(MAX_HEADERS):
        read = await reader.readline()
        if not read:
            raise IncompleteReadError(read, None)
        line = read.removesuffix(b"\n").removesuffix(b"\r")
        if not line and length is not None:
            return await reader.readexactly(length)
        parsed = parse_content_length(line)
        if parsed is not None:
            length = parsed
        if len(line) > MAX_HEADER_BYTES or (parsed is None and not _CONTENT_TYPE.fullmatch(line)):
            raise RefusedError(f"{line[:60]!r} is not an LSP header")
        if length is not None and length > MAX_FIRST_MESSAGE_BYTES:
            raise RefusedError(f"its first message has {length:,} bytes, the limit is {MAX_FIRST_MESSAGE_BYTES:,}")
    raise RefusedError("its header has too many lines")


def _parse_message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    return message if isinstance(message, dict) else {}


def _find_token(message: dict[str, Any]) -> str | None:
    match message:
        case {"method": "initialize", "params": {"initializationOptions": {"token": str(token)}}}:
            return token
    return None


def _send_refusal(writer: StreamWriter, request_id: int | str) -> None:
    error = {
        "code": _SERVER_NOT_INITIALIZED,
        "message": "framedex: the first message must be `initialize` with the server's token in"
        " initializationOptions.token. The server prints the token and the path of its file on stderr.",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()
    writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


@contextmanager
def token_file(port: int, token: str) -> Iterator[Path]:
    """Write the server's token to a file that only its user can read; remove the file at the end of the block.

    Raises FramedexError if there is no safe folder for the file.
    """
    folder = _create_private_folder()
    path = folder / f"serve-{port}.token"
    try:
        path.unlink(missing_ok=True)  # left by a killed server: two servers cannot listen on one port
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise FramedexError(f"Cannot write the token to {path}: {error.strerror}.", _REMEDY) from error
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


def generate_token() -> str:
    """Return a random token that cannot be guessed."""
    import secrets

    return secrets.token_urlsafe(32)


_REMEDY = "Set XDG_RUNTIME_DIR to a folder of your own, or serve on a Unix socket: `framedex serve --socket FILE`."


def _create_private_folder() -> Path:
    """Create a folder that only this user can write, below $XDG_RUNTIME_DIR or in the user's cache; return its path."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    has_runtime = os.path.isabs(runtime) and os.path.isdir(runtime)  # noqa: PTH112, PTH117 - an environment variable
    parent = Path(runtime) if has_runtime else user_folder("XDG_CACHE_HOME")
    if parent is None:
        raise FramedexError("No folder for the token file: the home folder is unknown.", _REMEDY)
    folder = parent / "framedex"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise FramedexError(f"Cannot create the folder {folder}: {error.strerror}.", _REMEDY) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise FramedexError(f"Other users can write to {folder}, so the token is not safe there.", _REMEDY)
    return folder
