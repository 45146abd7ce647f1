"""Reads the file of an import. Decompresses gzip, up to a limit."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from framedex.base.regularfile import open_regular

HEAD = 1 << 16
"""The number of first bytes that detect a format."""

_MAX_LINE_BYTES = 1 << 24
_MARK = b"\xef\xbb\xbf"  # byte order mark of UTF-8
_GZIP = b"\x1f\x8b"
_UNPACKED = 16 << 20
_RATIO = 300  # stacks compress 10- to 50-fold, a repeated byte 1000-fold


def split_lines(head: bytes) -> list[str]:
    """Split the first bytes into lines at `\\n`, as `Source.lines` does. Names may contain Unicode line breaks."""
    return [line.rstrip("\r") for line in head.decode("utf-8", "replace").removesuffix("\n").split("\n")]


class Source:
    """The bytes of a file. Raises ValueError if it is damaged, and OSError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Context manager that opens the decompressed bytes, without a byte order mark."""
        with open_regular(self._path) as file:
            content = file
            if file.peek(2)[:2] == _GZIP:
                file.seek(0, io.SEEK_END)
                size = file.tell()
                file.seek(0)
                unpacked = _GzipReader(file, _UNPACKED + _RATIO * size)
                content = io.BufferedReader(cast(io.RawIOBase, unpacked), 1 << 20)
            if content.peek(len(_MARK)).startswith(_MARK):
                content.read(len(_MARK))
            yield content

    def head(self) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return file.read(HEAD)

    def contains(self, text: bytes) -> bool:
        """Whether the file contains a text."""
        with self.open() as file:
            kept = b""
            while data := file.read(1 << 20):
                if text in kept + data:
                    return True
                kept = data[-len(text) :]
        return False

    def lines(self) -> Iterator[str]:
        """The lines of the file, without line breaks."""
        with self.open() as file:
            while line := file.readline(_MAX_LINE_BYTES):
                if len(line) == _MAX_LINE_BYTES:
                    raise ValueError(f"one of its lines has more than {_MAX_LINE_BYTES:,} bytes")
                yield line.rstrip(b"\r\n").decode("utf-8", "replace")


class _GzipReader(io.RawIOBase):
    """Decompresses gzip. Raises ValueError beyond a number of bytes."""

    def __init__(self, packed: BinaryIO, limit: int) -> None:
        self._file = gzip.GzipFile(fileobj=packed)
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._file.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"its gzip data is damaged or truncated ({error})") from error
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it decompresses to far more data than stacks do")
        buffer[: len(data)] = data
        return len(data)
