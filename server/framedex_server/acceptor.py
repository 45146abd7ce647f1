"""Limit the number of connections that have not sent the token yet.

asyncio's own servers accept without a limit. Once descriptors run out, they log a page for each connection.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from asyncio import StreamReader, StreamWriter, Task
from collections.abc import Awaitable, Callable
from contextlib import suppress

from framedex_server.logs import RefusalLog

MOST_WAITING = 16
"""Maximum number of connections waiting for admission; lower if the process may open few files."""

_OF_DESCRIPTORS = 8  # at most 1/8 of the descriptors are for waiting connections

PAUSE_S = 1.0
"""Seconds to wait when a connection can be neither accepted nor refused: out of descriptors, or after an error."""

_OUT_OF_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_log = logging.getLogger(__name__)

Converse = Callable[[StreamReader, StreamWriter, Callable[[], None]], Awaitable[None]]
"""Serves a connection until it ends; calls its last argument once the connection is admitted."""


class Acceptor:
    """Accepts the connections of a listening socket.

    If too many connections wait for admission, the oldest is closed: a client sends its token at once. A spare
    descriptor lets the server refuse connections when all others are in use.
    """

    def __init__(self, listener: socket.socket, converse: Converse, refusals: RefusalLog) -> None:
        self._listener = listener
        self._converse = converse
        self._refusals = refusals
        self._waiting: dict[Task[None], None] = {}
        self._tasks: set[Task[None]] = set()
        self._most_waiting = _most_waiting()
        self._spare: int | None = _open_spare()

    async def accept(self) -> None:
        """Accept connections until cancelled."""
        try:
            while True:
                connection = await self._next()
                if connection is not None:
                    self._start(connection)
                await asyncio.sleep(0)  # `_next` does not pause while other connections are ready
        finally:
            self._close_spare()

    async def _next(self) -> socket.socket | None:
        """Return the next connection; None if it could not be accepted."""
        try:
            connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
        except OSError as error:
            if error.errno in _OUT_OF_DESCRIPTORS:
                await self._make_room(os.strerror(error.errno))
            elif error.errno != errno.ECONNABORTED:  # that client disconnected; any other error may persist
                self._refusals.add(str(error))
                await asyncio.sleep(PAUSE_S)
            return None
        return connection

    def _start(self, connection: socket.socket) -> None:
        if len(self._waiting) >= self._most_waiting:
            self._refuse_oldest(f"{self._most_waiting} others came before it was admitted")
        task = asyncio.create_task(self._serve(connection))
        self._tasks.add(task)
        self._waiting[task] = None
        task.add_done_callback(self._forget)

    def _forget(self, task: Task[None]) -> None:
        self._tasks.discard(task)
        self._waiting.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("A connection failed.", exc_info=error)

    async def _serve(self, connection: socket.socket) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            reader, writer = await asyncio.open_connection(sock=connection)
        except BaseException:
            connection.close()
            raise
        try:
            await self._converse(reader, writer, lambda: self._waiting.pop(task, None))
        finally:
            writer.close()

    async def _make_room(self, reason: str) -> None:
        """Close the oldest connection that waits for admission; if none waits, refuse the next one."""
        if self._waiting:
            await asyncio.wait([self._refuse_oldest(reason)])
        elif self._spare is not None:
            self._refusals.add(reason)
            self._close_spare()
            with suppress(OSError):
                self._listener.accept()[0].close()
            self._spare = _open_spare()
        else:
            await asyncio.sleep(PAUSE_S)
            self._spare = _open_spare()

    def _refuse_oldest(self, reason: str) -> Task[None]:
        self._refusals.add(reason)
        oldest = next(iter(self._waiting))
        del self._waiting[oldest]
        oldest.cancel()
        return oldest

    def _close_spare(self) -> None:
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None


def _most_waiting() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return MOST_WAITING
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_WAITING if limit == resource.RLIM_INFINITY else max(1, min(MOST_WAITING, limit // _OF_DESCRIPTORS))


def _open_spare() -> int | None:
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None
