"""Who may speak to a server that listens: its user's programs, and nobody's web page.

A page that is shown in a browser can post to any port of the loopback, under whatever name it has given that address,
and other users of the machine can connect to it. So a connection begins with a header of the protocol, as no request of
HTTP does, and its first message is an `initialize` with the token of this server, `initializationOptions.token`: every
editor can send it. Until then nothing is handed on.
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
"""Bytes of one line of a message's header."""

MOST_HEADERS = 8

LARGEST_FIRST = 1 << 22
"""Bytes of a first message: the longest `initialize` of an editor has some 50,000."""

_TYPE = re.compile(rb"content-type: *[^\0]*", re.IGNORECASE)
_SERVER_NOT_INITIALIZED = -32002  # the LSP specification, ErrorCodes


class RefusedError(Exception):
    """A connection that is not taken; the text is for the server's log."""


class Admitted:
    """The bytes of a connection that was admitted, from its first message on, read as from a StreamReader."""

    def __init__(self, first: bytes, rest: StreamReader) -> None:
        self._first = BytesIO(b"Content-Length: %d\r\n\r\n%s" % (len(first), first))
        self._rest = rest

    async def readline(self) -> bytes:
        """As StreamReader has it."""
        return self._first.readline() or await self._rest.readline()

    async def readexactly(self, count: int) -> bytes:
        """As StreamReader has it."""
        return self._first.read(count) or await self._rest.readexactly(count)


async def admit(reader: StreamReader, writer: StreamWriter, token: str | None) -> Admitted:
    """Read the first message of a connection, which has to bear the token where there is one.

    Raises RefusedError where it does not; a client that speaks the protocol has been told then.
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
    """The file with the token of the server on a port, which its user alone can read, while the block lasts.

    Raises FramedexError where there is no place for it.
    """
    folder = _own_folder()
    path = folder / f"serve-{port}.token"
    try:
        path.unlink(missing_ok=True)  # of a server that was killed: two cannot listen on one port
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
    """A token that nobody guesses."""
    import secrets  # which loads OpenSSL: a server without a port starts without it

    return secrets.token_urlsafe(32)


_REMEDY = "Set XDG_RUNTIME_DIR to a folder of your own, or serve on a Unix socket: `framedex serve --socket FILE`."


def _own_folder() -> Path:
    """A folder that nobody else can write: below $XDG_RUNTIME_DIR, else below the user's cache."""
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
