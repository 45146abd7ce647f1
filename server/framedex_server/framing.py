"""Normalise message headers to the form that pygls parses.

pygls accepts one spelling of `Content-Length` and any number in it. A length beyond the machine's memory would end the
server. Header lines without a valid length are replaced, so that the next message is found.
"""

from __future__ import annotations

import asyncio
import re
from threading import Event
from typing import BinaryIO, Protocol

LARGEST = 1 << 30
"""Maximum length of a message, in bytes: far above the largest text that an editor opens."""

_LENGTH = re.compile(rb"content-length: *([0-9]{1,10}) *", re.IGNORECASE)


def content_length(line: bytes) -> int | None:
    """Parse the `Content-Length` header, in bytes; None for any other line."""
    match = _LENGTH.fullmatch(line)
    return int(match[1]) if match else None


def canonical(line: bytes) -> bytes:
    """Return a header line in the form that pygls parses; empty at the end of input."""
    if not line:
        return b""
    text = line.strip(b"\r\n")
    if not text:
        return b"\r\n"
    length = content_length(text)
    return b"Content-Length: %d\r\n" % length if length is not None and length <= LARGEST else b"X-Other: \r\n"


class Framed:
    """A pipe with normalised headers; it is read only while `may_read` is set."""

    def __init__(self, source: BinaryIO, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    def readline(self) -> bytes:
        """Same as a file's `readline`."""
        self._may_read.wait()
        return canonical(self._source.readline())

    def read(self, count: int) -> bytes:
        """Same as a file's `read`."""
        return self._source.read(count)


class AwaitedBytes(Protocol):
    """An asynchronous byte source: a StreamReader or a wrapper of one."""

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""


class FramedStream:
    """A connection with normalised headers; it is read only while `may_read` is set."""

    def __init__(self, source: AwaitedBytes, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""
        if not self._may_read.is_set():
            await asyncio.get_running_loop().run_in_executor(None, self._may_read.wait)
        return canonical(await self._source.readline())

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""
        return await self._source.readexactly(count)
