"""A byte encoding of values: 8-byte integers and reals, and length-prefixed texts and sequences.

native/pjrt/mock/delegate/encoding.h implements the same format.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TypeVar

Element = TypeVar("Element")


def integer(value: int) -> bytes:
    """Encode an integer or a bool."""
    return struct.pack("<q", value)


def real(value: float) -> bytes:
    """Encode a floating-point number."""
    return struct.pack("<d", value)


def text(value: str | bytes) -> bytes:
    """Encode a text or bytes."""
    content = value.encode() if isinstance(value, str) else value
    return integer(len(content)) + content


def sequence(elements: Iterable[bytes]) -> bytes:
    """Encode a sequence of already encoded elements."""
    encoded = list(elements)
    return integer(len(encoded)) + b"".join(encoded)


def integers(values: Iterable[int]) -> bytes:
    """Encode a sequence of integers."""
    return sequence(map(integer, values))


class Decoder:
    """Decodes values that C++ encoded. Raises struct.error for truncated input."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._position = 0

    def integer(self) -> int:
        """Decode the next integer."""
        (value,) = struct.unpack_from("<q", self._encoded, self._position)
        self._position += 8
        return int(value)

    def text(self) -> bytes:
        """Decode the next byte string."""
        size = self.integer()
        self._position += size
        return self._encoded[self._position - size : self._position]

    def sequence(self, read: Callable[[], Element]) -> list[Element]:
        """Decode a sequence, with `read` for each element."""
        return [read() for _ in range(self.integer())]
