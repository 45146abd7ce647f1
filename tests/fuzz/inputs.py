"""A fuzz input as a stream of values, and files for code that reads only files."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


class Input:
    """Read values from an input in order. After its end, byte strings are shorter and numbers are 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        taken = self._data[self._position : self._position + size]
        self._position += len(taken)
        return taken

    def number(self, size: int = 1) -> int:
        """The next unsigned little-endian number of this many bytes."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        """The text up to the next line break."""
        end = self._data.find(b"\n", self._position)
        taken = self.take((end if end >= 0 else len(self._data)) - self._position)
        self.take(1)
        return text_of(taken)


def text_of(data: bytes) -> str:
    """Bytes as a Python string, like file names and program output."""
    return data.decode("utf-8", "surrogateescape")


@cache
def scratch() -> Path:
    """A folder of this process, in memory if possible, because every run writes a file."""
    there = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="framedex-fuzz-", dir=there))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
