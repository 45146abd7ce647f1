"""Stdio streams for MCP that finish pending requests after stdin ends.

The MCP library drops pending requests at the end of stdin. Without these streams, a client that writes its requests
into a pipe and closes it gets no answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse, RequestId

Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def draining_stdio() -> AsyncIterator[tuple[Received, Sent]]:
    """The messages from stdin, and a stream of messages to stdout.

    The first stream ends when stdin has ended and every request is settled.
    """
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    requests = _Requests()
    async with stdio_server() as (stdin, stdout), anyio.create_task_group() as tasks:

        async def read() -> None:
            async with to_server:
                async for message in stdin:
                    await to_server.send(message if isinstance(message, Exception) else requests.noted(message))
                await requests.all_settled()

        async def write() -> None:
            async with stdout:
                async for message in from_server:
                    await stdout.send(message)
                    if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                        requests.settle(message.message.id)

        tasks.start_soon(read)
        tasks.start_soon(write)
        yield received, sent


@dataclass(slots=True)
class _Requests:
    """The requests without a response."""

    _open: set[RequestId | None] = field(default_factory=set)
    _settled: anyio.Event = field(default_factory=anyio.Event)

    def noted(self, message: SessionMessage) -> SessionMessage:
        """Return the message to pass on, and register it if it is a request.

        A cancelled request gets no response, so the message has a callback that settles the request.
        """
        if not isinstance(message.message, JSONRPCRequest):
            return message
        request = message.message.id
        self._open.add(request)

        async def unanswered() -> None:
            self.settle(request)

        return SessionMessage(message.message, ServerMessageMetadata(on_request_unanswered=unanswered))

    def settle(self, request: RequestId | None) -> None:
        self._open.discard(request)
        if not self._open:
            self._settled.set()

    async def all_settled(self) -> None:
        """Wait until no request is open."""
        if self._open:
            self._settled = anyio.Event()
            await self._settled.wait()
