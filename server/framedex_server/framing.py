"""The headers of messages as pygls reads them, out of whatever comes.

pygls takes `Content-Length` in one spelling, and any number in it: one that no machine has the memory for would end the
server. What is no header of a length that can be is passed over, so that the next message is found.
"""

from __future__ import annotations

import asyncio
import re
from threading import Event
from typing import BinaryIO, Protocol

LARGEST = 1 << 30
"""Bytes of a message: the largest text that an editor opens is a fraction of it."""

_LENGTH = re.compile(rb"content-length: *([0-9]{1,10}) *", re.IGNORECASE)


def content_length(line: bytes) -> int | None:
    """The length in bytes that a line of a header gives its message; None for any other line."""
    match = _LENGTH.fullmatch(line)
    return int(match[1]) if match else None


def canonical(line: bytes) -> bytes:
    """A line of a header as pygls understands it; empty at the end of input."""
    if not line:
        return b""
    text = line.strip(b"\r\n")
    if not text:
        return b"\r\n"
    length = content_length(text)
    return b"Content-Length: %d\r\n" % length if length is not None and length <= LARGEST else b"X-Other: \r\n"


class Framed:
    """The bytes of a pipe, with headers as pygls reads them, and read only while `may_read` is set."""

    def __init__(self, source: BinaryIO, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    def readline(self) -> bytes:
        """As a file has it."""
        self._may_read.wait()
        return canonical(self._source.readline())

    def read(self, count: int) -> bytes:
        """As a file has it."""
        return self._source.read(count)


class AwaitedBytes(Protocol):
    """A source of bytes that are awaited: a StreamReader, or what stands before one."""

    async def readline(self) -> bytes:
        """As StreamReader has it."""

    async def readexactly(self, count: int) -> bytes:
        """As StreamReader has it."""


class FramedStream:
    """The bytes of a connection, with headers as pygls reads them, and read only while `may_read` is set."""

    def __init__(self, source: AwaitedBytes, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    async def readline(self) -> bytes:
        """As StreamReader has it."""
        if not self._may_read.is_set():
            await asyncio.get_running_loop().run_in_executor(None, self._may_read.wait)
        return canonical(await self._source.readline())

    async def readexactly(self, count: int) -> bytes:
        """As StreamReader has it."""
        return await self._source.readexactly(count)
