"""A file to be imported: its bytes, unpacked where gzip has packed them, as far as that can be stacks."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from framedex.regularfile import open_regular

HEAD = 1 << 16
"""Bytes by which a format is told."""

_LONGEST_LINE = 1 << 24
_MARK = b"\xef\xbb\xbf"  # which some editors write before UTF-8
_GZIP = b"\x1f\x8b"
_UNPACKED = 16 << 20
_RATIO = 300  # stacks pack well, to a tenth or a fiftieth; what is all one byte packs to a thousandth


def lines_of(head: bytes) -> list[str]:
    """The lines of the first bytes, as `Source.lines` has them: what Unicode calls a break may stand in names."""
    return [line.rstrip("\r") for line in head.decode("utf-8", "replace").removesuffix("\n").split("\n")]


class Source:
    """The bytes of a file. Reading it raises ValueError where it is damaged, and OSError where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The bytes from the beginning, unpacked, without a byte order mark: a context manager."""
        with open_regular(self._path) as file:
            content = file
            if file.peek(2)[:2] == _GZIP:
                file.seek(0, io.SEEK_END)
                size = file.tell()
                file.seek(0)
                unpacked = _Unpacked(file, _UNPACKED + _RATIO * size)
                content = io.BufferedReader(cast(io.RawIOBase, unpacked), 1 << 20)
            if content.peek(len(_MARK)).startswith(_MARK):
                content.read(len(_MARK))
            yield content

    def head(self) -> bytes:
        """The first bytes."""
        with self.opened() as file:
            return file.read(HEAD)

    def has(self, text: bytes) -> bool:
        """Whether a text occurs anywhere in it."""
        with self.opened() as file:
            kept = b""
            while data := file.read(1 << 20):
                if text in kept + data:
                    return True
                kept = data[-len(text) :]
        return False

    def lines(self) -> Iterator[str]:
        """The lines of a text, without their breaks."""
        with self.opened() as file:
            while line := file.readline(_LONGEST_LINE):
                if len(line) == _LONGEST_LINE:
                    raise ValueError(f"a line of it has more than {_LONGEST_LINE:,} bytes")
                yield line.rstrip(b"\r\n").decode("utf-8", "replace")


class _Unpacked(io.RawIOBase):
    """What gzip has packed, up to so many bytes."""

    def __init__(self, packed: BinaryIO, most: int) -> None:
        self._file = gzip.GzipFile(fileobj=packed)
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._file.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"what gzip has packed is damaged or cut off ({error})") from error
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it unpacks to far more than stacks do")
        buffer[: len(data)] = data
        return len(data)
