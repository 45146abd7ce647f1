"""Columns of values that grow side by side and are written one after the other, as JSON has tables by columns."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO

from framedex.errors import FramedexError

_LONGEST = 1 << 16  # characters of a column that are kept in memory


def shelf() -> IO[bytes]:
    """A file for what columns keep no longer in memory."""
    return tempfile.TemporaryFile(buffering=0)  # whose end has nothing left to write, and so to fail


class Column:
    """An array of JSON, a value at a time. What there is no room for in memory is on a shelf, beside that of others.

    `length` is how many values there are.
    """

    def __init__(self, shelf: IO[bytes]) -> None:
        self.length = 0
        self._shelf = shelf
        self._values: list[str] = []
        self._characters = 0
        self._parts: list[tuple[int, int]] = []

    def add(self, value: str) -> None:
        """Add a value, which is JSON."""
        self.length += 1
        self._values.append(value)
        self._characters += len(value) + 1
        if self._characters > _LONGEST:
            self._parts.append(_put(self._shelf, self._text() + b","))
            self._values.clear()
            self._characters = 0

    def write(self, file: IO[bytes]) -> None:
        """Write the array; nothing is added to it any more."""
        file.write(b"[")
        for part in self._read():
            file.write(part)
        file.write(b"]")

    def _read(self) -> Iterator[bytes]:
        """The parts; the last comma stands before what is in memory, or goes where nothing is."""
        last = len(self._parts) - 1
        for number, (place, length) in enumerate(self._parts):
            self._shelf.seek(place)
            part = self._shelf.read(length)
            yield part if self._values or number < last else part[:-1]
        yield self._text()

    def _text(self) -> bytes:
        return ",".join(self._values).encode()


def _put(shelf: IO[bytes], part: bytes) -> tuple[int, int]:
    """Put a part behind the others, and tell where it is. Raises FramedexError where there is no room."""
    try:
        place = shelf.seek(0, os.SEEK_END)
        left = part
        while left:  # a part for which there is no room is written as far as there is, then refused
            left = left[shelf.write(left) :]
    except OSError as error:
        raise FramedexError(
            f"Temporary files of the export in {tempfile.gettempdir()} could not be written: {error.strerror}.",
            "Set TMPDIR to a folder with more room.",
        ) from error
    return place, len(part)
