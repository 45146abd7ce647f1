"""Serve any number of clients, each in its own session, on a Unix socket or a loopback port.

A client can read sources and run programs. Only the socket's owner can open the Unix socket. A port is open to every
user and every web page on the machine, so it requires a token (`admission.py`). The server listens only on the
loopback. The number of connections without a token is limited. asyncio's own servers have no limit, and log a page of
errors for each connection once descriptors run out.
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
from asyncio import IncompleteReadError, StreamReader, StreamWriter, Task
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from pygls.io_ import run_async

from framedex.base.errors import FramedexError
from framedex_server.admission import RefusedError, admit, generate_token, token_file
from framedex_server.logs import RefusalLog
from framedex_server.protocol import FramedStream

if TYPE_CHECKING:
    from framedex_server.server import FramedexServer

LOOPBACK_HOST = "127.0.0.1"

FIRST_MESSAGE_TIMEOUT_S = 30.0
"""Seconds within which a client must send its first message."""

_BACKLOG = 100  # connections queued by the system until accepted: the default of asyncio's servers
_MAX_SOCKET_PATH_BYTES = 107  # bytes: sun_path of unix(7), less the terminating zero

_log = logging.getLogger(__name__)

MakeServer = Callable[[], "FramedexServer"]
PrintLine = Callable[[str], None]
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
        host = host.strip("[]") or LOOPBACK_HOST
        # Do not look the name up in the system's hosts table: it may map to any address.
        host = LOOPBACK_HOST if host.lower() == "localhost" else host
        if not _is_loopback(host):
            raise ValueError(
                f"{host} is not a loopback address. Use {LOOPBACK_HOST} or [::1]:"
                " on any other address, other machines could read your sources"
            )
        if not (port.isascii() and port.isdecimal() and len(port) < 6 and int(port) < 65536):
            raise ValueError(f"{port!r} is not a port number (0 to 65535)")
        return Address(host, int(port))


async def listen_on_port(address: Address, make_server: MakeServer, print_line: PrintLine) -> None:
    """Serve clients that have the token until cancelled. Raises FramedexError if listening on the port fails."""
    token = generate_token()
    refusals = RefusalLog()

    async def handle(reader: StreamReader, writer: StreamWriter, when_admitted: Callable[[], None]) -> None:
        await _serve_connection(make_server, reader, writer, token, when_admitted, refusals)

    try:
        listener = _create_listener(address)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise FramedexError(
            f"Cannot listen on {address.host}:{address.port}: {reason}.",
            "Choose another port, 0 for a free one, or a Unix socket: `framedex serve --socket FILE`.",
        ) from error
    port = listener.getsockname()[1]
    with closing(listener), token_file(port, token) as file:
        print_line(f"listening on {address.host}:{port}")
        print_line(f"clients must send the token {token} as initializationOptions.token; it is also in {file}")
        await ConnectionAcceptor(listener, handle, refusals).accept()


async def listen_on_socket(path: Path, make_server: MakeServer, print_line: PrintLine) -> None:
    """Serve this user's clients until cancelled. Raises FramedexError if the socket cannot be created."""
    refusals = RefusalLog()

    async def handle(reader: StreamReader, writer: StreamWriter, when_admitted: Callable[[], None]) -> None:
        uid = _read_peer_user_id(writer.get_extra_info("socket"))
        if uid != os.getuid():
            refusals.add(f"it came from user {uid}")
            return
        await _serve_connection(make_server, reader, writer, None, when_admitted, refusals)

    with _bind_socket(path.absolute()) as listener:
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        print_line(f"listening on {path}")
        await ConnectionAcceptor(listener, handle, refusals).accept()


def _create_listener(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    listener.setblocking(False)
    return listener


async def _serve_connection(
    make_server: MakeServer,
    reader: StreamReader,
    writer: StreamWriter,
    token: str | None,
    when_admitted: Callable[[], None],
    refusals: RefusalLog,
) -> None:
    try:
        async with asyncio.timeout(FIRST_MESSAGE_TIMEOUT_S):
            admitted = await admit(reader, writer, token)
    except RefusedError as refusal:
        refusals.add(str(refusal))
        return
    except (TimeoutError, IncompleteReadError, ConnectionError, ValueError):
        return
    when_admitted()
    server = make_server()
    # Closing the connection ends its reader, which ends the session.
    server.protocol.on_exit = server.on_client_death = writer.close
    server.protocol.set_writer(writer)
    try:
        # The client may disconnect within a message, or send a header without an end.
        with suppress(IncompleteReadError, ConnectionError, ValueError):
            source = FramedStream(admitted, server.protocol.may_read)
            await run_async(Event(), source, server.protocol, _log, server.report_server_error)
    finally:
        server.end_session()
        server.stop_client_watch()


@contextmanager
def _bind_socket(path: Path) -> Iterator[socket.socket]:
    """Create a socket that only this user can open; remove it at the end of the block. Raises FramedexError."""
    _remove_stale_socket(path)
    with socket.socket(socket.AF_UNIX) as bound:
        before = os.umask(0o177)
        try:
            bound.bind(os.fspath(path))
        except OSError as error:
            raise _socket_error(path, error.strerror or str(error)) from error
        finally:
            os.umask(before)
        made = path.lstat()
        try:
            yield bound
        finally:
            with suppress(OSError):
                if os.path.samestat(path.lstat(), made):
                    path.unlink()


def _remove_stale_socket(path: Path) -> None:
    """Remove this user's stale socket, on which no server listens. Raises FramedexError if the path cannot be used."""
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH_BYTES:
        raise _socket_error(path, f"the path of a socket has at most {_MAX_SOCKET_PATH_BYTES} bytes")
    try:
        folder = path.parent.stat()
        if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
            raise _socket_error(path, "other users can write to that folder and could replace the socket")
        status = path.lstat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise _socket_error(path, "the folder does not exist") from None
        return
    except OSError as error:
        raise _socket_error(path, error.strerror or str(error)) from error
    if not stat.S_ISSOCK(status.st_mode):
        raise _socket_error(path, "a file that is not a socket has this path")
    if status.st_uid != os.getuid():
        raise _socket_error(path, "the existing socket belongs to another user")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        failure = probe.connect_ex(os.fspath(path))
    if failure != errno.ECONNREFUSED:
        raise _socket_error(path, "another server is listening there")
    path.unlink(missing_ok=True)


def _socket_error(path: Path, reason: str) -> FramedexError:
    return FramedexError(
        f"Cannot listen on {path}: {reason}.",
        "Choose a short path in a folder of your own: `framedex serve --socket $XDG_RUNTIME_DIR/framedex.sock`.",
    )


def _read_peer_user_id(connection: socket.socket) -> int:
    """Return the user id at the other end of a Unix socket, from the kernel (unix(7), SO_PEERCRED)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("3i", credentials)[1]
    return user


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


MAX_PENDING_CONNECTIONS = 16
"""Maximum number of connections waiting for admission; lower if the process may open few files."""

_DESCRIPTORS_PER_CONNECTION = 8  # waiting connections use at most 1/8 of the descriptors

RETRY_DELAY_S = 1.0
"""Seconds to wait when a connection can be neither accepted nor refused: out of descriptors, or after an error."""

_OUT_OF_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

HandleConnection = Callable[[StreamReader, StreamWriter, Callable[[], None]], Awaitable[None]]
"""Serves a connection until it ends; calls its last argument once the connection is admitted."""


class ConnectionAcceptor:
    """Accepts the connections of a listening socket.

    If too many connections wait for admission, the oldest is closed: real clients send their token at once. A spare
    descriptor lets the server refuse connections when all others are in use.
    """

    def __init__(self, listener: socket.socket, handle: HandleConnection, refusals: RefusalLog) -> None:
        self._listener = listener
        self._handle = handle
        self._refusals = refusals
        self._pending: dict[Task[None], None] = {}
        self._tasks: set[Task[None]] = set()
        self._max_pending = _max_pending_connections()
        self._spare_descriptor: int | None = _open_spare_descriptor()

    async def accept(self) -> None:
        """Accept connections until cancelled."""
        try:
            while True:
                connection = await self._accept_next()
                if connection is not None:
                    self._start_task(connection)
                await asyncio.sleep(0)  # `_accept_next` does not yield while connections are ready
        finally:
            self._close_spare_descriptor()

    async def _accept_next(self) -> socket.socket | None:
        """Return the next connection; None if it could not be accepted."""
        try:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
        except OSError as error:
            if error.errno in _OUT_OF_DESCRIPTORS:
                await self._free_descriptor(os.strerror(error.errno))
            elif error.errno != errno.ECONNABORTED:  # that client disconnected; any other error may persist
                self._refusals.add(str(error))
                await asyncio.sleep(RETRY_DELAY_S)
            return None
        return connection

    def _start_task(self, connection: socket.socket) -> None:
        if len(self._pending) >= self._max_pending:
            self._refuse_oldest(f"{self._max_pending} newer connections arrived before it sent the token")
        task = asyncio.create_task(self._serve(connection))
        self._tasks.add(task)
        self._pending[task] = None
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: Task[None]) -> None:
        self._tasks.discard(task)
        self._pending.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("A client connection failed.", exc_info=error)

    async def _serve(self, connection: socket.socket) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            reader, writer = await asyncio.open_connection(sock=connection)
        except BaseException:
            connection.close()
            raise
        try:
            await self._handle(reader, writer, lambda: self._pending.pop(task, None))
        finally:
            writer.close()

    async def _free_descriptor(self, reason: str) -> None:
        """Close the oldest connection that waits for admission; if none waits, refuse the next one."""
        if self._pending:
            await asyncio.wait([self._refuse_oldest(reason)])
        elif self._spare_descriptor is not None:
            self._refusals.add(reason)
            self._close_spare_descriptor()
            with suppress(OSError):
                self._listener.accept()[0].close()
            self._spare_descriptor = _open_spare_descriptor()
        else:
            await asyncio.sleep(RETRY_DELAY_S)
            self._spare_descriptor = _open_spare_descriptor()

    def _refuse_oldest(self, reason: str) -> Task[None]:
        self._refusals.add(reason)
        oldest = next(iter(self._pending))
        del self._pending[oldest]
        oldest.cancel()
        return oldest

    def _close_spare_descriptor(self) -> None:
        if self._spare_descriptor is not None:
            os.close(self._spare_descriptor)
            self._spare_descriptor = None


def _max_pending_connections() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return MAX_PENDING_CONNECTIONS
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        MAX_PENDING_CONNECTIONS
        if limit == resource.RLIM_INFINITY
        else max(1, min(MAX_PENDING_CONNECTIONS, limit // _DESCRIPTORS_PER_CONNECTION))
    )


def _open_spare_descriptor() -> int | None:
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None
