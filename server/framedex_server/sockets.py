"""Serve any number of clients, each in its own session, on a Unix socket or a loopback port.

A client can read sources and run programs. Only the socket's owner can open the Unix socket. A port is open to every
user and every web page on the machine, so it requires a token (`admission.py`). The server never listens on another
interface.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import stat
import struct
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from pygls.io_ import run_async

from framedex.errors import FramedexError
from framedex_server.acceptor import Acceptor
from framedex_server.admission import RefusedError, admit, new_token, token_file
from framedex_server.framing import FramedStream
from framedex_server.logs import RefusalLog

if TYPE_CHECKING:
    from framedex_server.server import FramedexServer

HOST = "127.0.0.1"

PATIENCE = 30.0
"""Seconds within which a client must send its first message."""

_BACKLOG = 100  # connections queued by the system until accepted: the default of asyncio's servers
_LONGEST_PATH = 107  # bytes: sun_path of unix(7), less the terminating zero

_log = logging.getLogger(__name__)

MakeServer = Callable[[], "FramedexServer"]
Told = Callable[[str], None]
"""Receives a line for the user: the server's address, or the clients' token."""


@dataclass(frozen=True, slots=True)
class Address:
    """A port of the loopback; 0 lets the system choose one."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> Address:
        """Parse `[HOST:]PORT`. Raises ValueError with a text for the user."""
        host, _, port = text.rpartition(":")
        host = host.strip("[]") or HOST
        # Do not look the name up in the system's hosts table: it may map to any address.
        host = HOST if host.lower() == "localhost" else host
        if not _is_loopback(host):
            raise ValueError(
                f"{host} is no address of this machine's loopback, as {HOST} and [::1] are: whoever reached it"
                " could read your sources"
            )
        if not (port.isascii() and port.isdecimal() and len(port) < 6 and int(port) < 65536):
            raise ValueError(f"{port!r} is no port, a number from 0 to 65535")
        return Address(host, int(port))


async def listen_on_port(address: Address, make_server: MakeServer, told: Told) -> None:
    """Serve clients that have the token until cancelled. Raises FramedexError if listening on the port fails."""
    token = new_token()
    refusals = RefusalLog()

    async def converse(reader: StreamReader, writer: StreamWriter, when_admitted: Callable[[], None]) -> None:
        await _converse(make_server, reader, writer, token, when_admitted, refusals)

    try:
        listener = _listen(address)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise FramedexError(
            f"Cannot listen on {address.host}:{address.port}: {reason}.",
            "Choose another port, 0 for a free one, or a Unix socket: `framedex serve --socket FILE`.",
        ) from error
    port = listener.getsockname()[1]
    with closing(listener), token_file(port, token) as file:
        told(f"listening on {address.host}:{port}")
        told(f"clients send the token {token} as initializationOptions.token; it is in {file} too")
        await Acceptor(listener, converse, refusals).accept()


async def listen_on_socket(path: Path, make_server: MakeServer, told: Told) -> None:
    """Serve this user's clients until cancelled. Raises FramedexError if the socket cannot be created."""

    refusals = RefusalLog()

    async def converse(reader: StreamReader, writer: StreamWriter, when_admitted: Callable[[], None]) -> None:
        uid = _user_of(writer.get_extra_info("socket"))
        if uid != os.getuid():
            refusals.add(f"user {uid} made it")
            return
        await _converse(make_server, reader, writer, None, when_admitted, refusals)

    with _bound(path.absolute()) as listener:
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        told(f"listening on {path}")
        await Acceptor(listener, converse, refusals).accept()


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    listener.setblocking(False)
    return listener


async def _converse(
    make_server: MakeServer,
    reader: StreamReader,
    writer: StreamWriter,
    token: str | None,
    when_admitted: Callable[[], None],
    refusals: RefusalLog,
) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            admitted = await admit(reader, writer, token)
    except RefusedError as refusal:
        refusals.add(str(refusal))
        return
    except (TimeoutError, IncompleteReadError, ConnectionError, ValueError):
        return
    when_admitted()
    server = make_server()
    # Closing the connection ends its reader, and so the session.
    server.protocol.leave = server.abandon = writer.close
    server.protocol.set_writer(writer)
    try:
        # The client may disconnect within a message, or send a header without an end.
        with suppress(IncompleteReadError, ConnectionError, ValueError):
            source = FramedStream(admitted, server.protocol.may_read)
            await run_async(Event(), source, server.protocol, _log, server.report_server_error)
    finally:
        server.end()
        server.end_watch()


@contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    """Create a socket that only this user can open; remove it at the end of the block. Raises FramedexError."""
    _make_way(path)
    with socket.socket(socket.AF_UNIX) as bound:
        before = os.umask(0o177)
        try:
            bound.bind(os.fspath(path))
        except OSError as error:
            raise _refused(path, error.strerror or str(error)) from error
        finally:
            os.umask(before)
        made = path.lstat()
        try:
            yield bound
        finally:
            with suppress(OSError):
                if os.path.samestat(path.lstat(), made):
                    path.unlink()


def _make_way(path: Path) -> None:
    """Remove this user's stale socket, on which no server listens. Raises FramedexError if the path cannot be used."""
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise _refused(path, f"its path is longer than the {_LONGEST_PATH} bytes that a socket's may have")
    try:
        folder = path.parent.stat()
        if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
            raise _refused(path, "others can write into that folder, and put a socket of theirs in its place")
        status = path.lstat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise _refused(path, "there is no such folder") from None
        return
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    if not stat.S_ISSOCK(status.st_mode):
        raise _refused(path, "there is something else, which is no socket")
    if status.st_uid != os.getuid():
        raise _refused(path, "the socket there is another user's")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        failure = probe.connect_ex(os.fspath(path))
    if failure != errno.ECONNREFUSED:
        raise _refused(path, "somebody listens there")
    path.unlink(missing_ok=True)


def _refused(path: Path, reason: str) -> FramedexError:
    return FramedexError(
        f"Cannot listen on {path}: {reason}.",
        "Choose a short path in a folder of your own: `framedex serve --socket $XDG_RUNTIME_DIR/framedex.sock`.",
    )


def _user_of(connection: socket.socket) -> int:
    """Return the user id at the other end of a Unix socket, from the kernel (unix(7), SO_PEERCRED)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("3i", credentials)[1]
    return user


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
