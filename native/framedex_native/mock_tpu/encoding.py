"""Values as bytes, one after another: integers and reals in eight bytes, texts and sequences after their length.

native/pjrt/mock/delegate/encoding.h is the same form.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TypeVar

Element = TypeVar("Element")


def integer(value: int) -> bytes:
    """A whole number, or a truth value."""
    return struct.pack("<q", value)


def real(value: float) -> bytes:
    """A floating-point number."""
    return struct.pack("<d", value)


def text(value: str | bytes) -> bytes:
    """A text or any bytes."""
    content = value.encode() if isinstance(value, str) else value
    return integer(len(content)) + content


def sequence(elements: Iterable[bytes]) -> bytes:
    """Elements that are encoded already."""
    encoded = list(elements)
    return integer(len(encoded)) + b"".join(encoded)


def integers(values: Iterable[int]) -> bytes:
    """A sequence of whole numbers."""
    return sequence(map(integer, values))


class Decoder:
    """Reads what C++ has encoded. Raises struct.error where something is missing."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._position = 0

    def integer(self) -> int:
        (value,) = struct.unpack_from("<q", self._encoded, self._position)
        self._position += 8
        return int(value)

    def text(self) -> bytes:
        size = self.integer()
        self._position += size
        return self._encoded[self._position - size : self._position]

    def sequence(self, read: Callable[[], Element]) -> list[Element]:
        """The elements, each of which `read` reads."""
        return [read() for _ in range(self.integer())]
