"""Serving over TCP: any number of clients, each with a session of its own. On the loopback only.

Whoever reaches the port can have sources read and programs run, so no other interface is ever listened on.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from pygls.io_ import run_async

if TYPE_CHECKING:
    from framedex_server.server import FramedexServer

HOST = "127.0.0.1"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """A port of the loopback; 0 lets the system choose one."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> Address:
        """From `[HOST:]PORT`. Raises ValueError, whose text is for the user."""
        host, _, port = text.rpartition(":")
        host = host.strip("[]") or HOST
        if not _is_loopback(host):
            raise ValueError(f"{host} is not this machine's loopback: whoever reached it could read your sources")
        if not (port.isascii() and port.isdecimal() and int(port) < 65536):
            raise ValueError(f"{port!r} is no port")
        return Address(host, int(port))


async def listen(address: Address, make_server: Callable[[], FramedexServer], told: Callable[[int], None]) -> None:
    """Serve clients until cancelled; `told` gets the port. Raises OSError where it cannot be listened on."""

    async def converse(reader: StreamReader, writer: StreamWriter) -> None:
        await _converse(make_server(), reader, writer)

    listener = await asyncio.start_server(converse, address.host, address.port)
    told(listener.sockets[0].getsockname()[1])
    async with listener:
        await listener.serve_forever()


async def _converse(server: FramedexServer, reader: StreamReader, writer: StreamWriter) -> None:
    # Closing the connection ends the reading of it, and so the session.
    server.protocol.leave = server.abandon = writer.close
    server.protocol.set_writer(writer)
    try:
        # A client that goes away in the middle of a message, or sends a header without end.
        with suppress(IncompleteReadError, ConnectionError, ValueError):
            await run_async(Event(), reader, server.protocol, _log, server.report_server_error)
    finally:
        server.end()
        writer.close()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
