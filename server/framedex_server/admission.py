"""Admission control of a listening server: only programs of its user, and no web page.

A page in a browser can post to any loopback port, under any host name, and other users of the machine can connect.
So a connection must start with an LSP header, which no HTTP request does. Its first message must be an `initialize`
with the server's token in `initializationOptions.token`, which every editor can send. Until then no message reaches
the server.
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

from framedex.errors import FramedexError
from framedex.userfolders import user_folder
from framedex_server.framing import content_length

LONGEST_HEADER = 1024
"""Maximum length of one header line, in bytes."""

MOST_HEADERS = 8

LARGEST_FIRST = 1 << 22
"""Maximum length of the first message, in bytes: the longest `initialize` of an editor has some 50,000."""

_TYPE = re.compile(rb"content-type: *[^\0]*", re.IGNORECASE)
_SERVER_NOT_INITIALIZED = -32002  # the LSP specification, ErrorCodes


class RefusedError(Exception):
    """A refused connection; the text goes to the server's log."""


class Admitted:
    """The bytes of an admitted connection, starting with its first message; has the methods of a StreamReader."""

    def __init__(self, first: bytes, rest: StreamReader) -> None:
        self._first = BytesIO(b"Content-Length: %d\r\n\r\n%s" % (len(first), first))
        self._rest = rest

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""
        return self._first.readline() or await self._rest.readline()

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""
        return self._first.read(count) or await self._rest.readexactly(count)


async def admit(reader: StreamReader, writer: StreamWriter, token: str | None) -> Admitted:
    """Read the first message of a connection and check its token, if `token` is set.

    Raises RefusedError if the token is missing or wrong. A client that sent a request gets an error reply first.
    """
    body = await _first_body(reader)
    if token is not None:
        from secrets import compare_digest

        message = _understood(body)
        given = _token_in(message)
        if given is None or not compare_digest(given.encode("utf-8", "replace"), token.encode()):
            if isinstance(message.get("id"), int | str):
                _refuse(writer, message["id"])
            raise RefusedError(f"no right token came with {message.get('method')!r:.60}")
    return Admitted(body, reader)


async def _first_body(reader: StreamReader) -> bytes:
    length = None
    for _ in range(MOST_HEADERS):
        read = await reader.readline()
        if not read:
            raise IncompleteReadError(read, None)
        line = read.removesuffix(b"\n").removesuffix(b"\r")
        if not line and length is not None:
            return await reader.readexactly(length)
        told = content_length(line)
        if told is not None:
            length = told
        if len(line) > LONGEST_HEADER or (told is None and not _TYPE.fullmatch(line)):
            raise RefusedError(f"{line[:60]!r} is no header of the protocol")
        if length is not None and length > LARGEST_FIRST:
            raise RefusedError(f"a first message of {length:,} bytes")
    raise RefusedError("a header without end")


def _understood(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    return message if isinstance(message, dict) else {}


def _token_in(message: dict[str, Any]) -> str | None:
    match message:
        case {"method": "initialize", "params": {"initializationOptions": {"token": str(token)}}}:
            return token
    return None


def _refuse(writer: StreamWriter, request_id: int | str) -> None:
    error = {
        "code": _SERVER_NOT_INITIALIZED,
        "message": "framedex: the first message has to be `initialize` with initializationOptions.token: the token that"
        " the server has said on stderr, and written to the file named there.",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()
    writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


@contextmanager
def token_file(port: int, token: str) -> Iterator[Path]:
    """Write the server's token to a file that only its user can read; remove the file at the end of the block.

    Raises FramedexError if there is no safe folder for the file.
    """
    folder = _own_folder()
    path = folder / f"serve-{port}.token"
    try:
        path.unlink(missing_ok=True)  # left by a killed server: two servers cannot listen on one port
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise FramedexError(f"The token cannot be written to {path}: {error.strerror}.", _REMEDY) from error
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


def new_token() -> str:
    """Return a random token that cannot be guessed."""
    import secrets  # loads OpenSSL, which a server without a port does not need

    return secrets.token_urlsafe(32)


_REMEDY = "Set XDG_RUNTIME_DIR to a folder of your own, or serve on a Unix socket: `framedex serve --socket FILE`."


def _own_folder() -> Path:
    """Create and return a folder that only this user can write: below $XDG_RUNTIME_DIR, else in the user's cache."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    has_runtime = os.path.isabs(runtime) and os.path.isdir(runtime)  # noqa: PTH112, PTH117 - texts of the environment
    parent = Path(runtime) if has_runtime else user_folder("XDG_CACHE_HOME")
    if parent is None:
        raise FramedexError("There is no folder for the token: the home folder is unknown.", _REMEDY)
    folder = parent / "framedex"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise FramedexError(f"{folder} cannot be made: {error.strerror}.", _REMEDY) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise FramedexError(f"{folder} is not a folder that you alone can write.", _REMEDY)
    return folder
