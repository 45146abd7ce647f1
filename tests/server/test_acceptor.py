"""Connections that cannot be accepted, for any reason."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from framedex_server import sockets
from framedex_server.logs import RefusalLog
from framedex_server.sockets import ConnectionAcceptor


class _Counting(socket.socket):
    attempts = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.attempts += 1
        return super().accept()


def test_a_lasting_error_is_retried_with_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that does not listen (EINVAL) is tried once before a pause."""
    monkeypatch.setattr(sockets, "RETRY_DELAY_S", 3600.0)

    async def converse(*_: object) -> None:
        raise AssertionError

    async def accept(listener: socket.socket) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ConnectionAcceptor(listener, converse, RefusalLog()).accept(), 0.1)

    with _Counting(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setblocking(False)
        asyncio.run(accept(listener))
        assert listener.attempts == 1
