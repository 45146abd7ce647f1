"""JSON columns for column-oriented tables: they grow in parallel and are written one after the other."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO

from framedex.errors import FramedexError

_LONGEST = 1 << 16  # maximum characters of a column in memory


def shelf() -> IO[bytes]:
    """Open a temporary file for the parts of columns that exceed the memory limit."""
    return tempfile.TemporaryFile(buffering=0)  # unbuffered, so that closing writes nothing and cannot fail


class Column:
    """A JSON array that grows value by value. Parts beyond the memory limit go to the shelf, which columns share.

    `length` is the number of values.
    """

    def __init__(self, shelf: IO[bytes]) -> None:
        self.length = 0
        self._shelf = shelf
        self._values: list[str] = []
        self._characters = 0
        self._parts: list[tuple[int, int]] = []

    def add(self, value: str) -> None:
        """Append a value, given as JSON."""
        self.length += 1
        self._values.append(value)
        self._characters += len(value) + 1
        if self._characters > _LONGEST:
            self._parts.append(_put(self._shelf, self._text() + b","))
            self._values.clear()
            self._characters = 0

    def write(self, file: IO[bytes]) -> None:
        """Write the array; no value may be added afterwards."""
        file.write(b"[")
        for part in self._read():
            file.write(part)
        file.write(b"]")

    def _read(self) -> Iterator[bytes]:
        """Yield the parts as JSON; the trailing comma is removed if no values follow in memory."""
        last = len(self._parts) - 1
        for number, (place, length) in enumerate(self._parts):
            self._shelf.seek(place)
            part = self._shelf.read(length)
            yield part if self._values or number < last else part[:-1]
        yield self._text()

    def _text(self) -> bytes:
        return ",".join(self._values).encode()


def _put(shelf: IO[bytes], part: bytes) -> tuple[int, int]:
    """Append a part to the shelf; return its offset and length. Raises FramedexError if the disk is full."""
    try:
        place = shelf.seek(0, os.SEEK_END)
        left = part
        while left:  # a full disk first takes a part of the write, then refuses the rest
            left = left[shelf.write(left) :]
    except OSError as error:
        raise FramedexError(
            f"Temporary files of the export in {tempfile.gettempdir()} could not be written: {error.strerror}.",
            "Set TMPDIR to a folder with more room.",
        ) from error
    return place, len(part)
