"""Raw access to numbers, addresses and texts in this process's memory."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from typing import Any

_TYPES: dict[str, Any] = {
    "Q": ctypes.c_uint64,
    "q": ctypes.c_int64,
    "I": ctypes.c_uint32,
    "i": ctypes.c_int32,
    "?": ctypes.c_bool,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
ADDRESS = "Q"
"""The type letter of an address or a length."""
FLAG = "?"
"""The type letter of a bool."""


def number(letter: str, address: int) -> Any:
    """The number at an address. `letter` is its type as in the module `struct`."""
    return _TYPES[letter].from_address(address).value


def numbers(letter: str, address: int, count: int) -> tuple[Any, ...]:
    """An array of numbers; empty at the address 0."""
    return tuple((_TYPES[letter] * count).from_address(address)) if address and count else ()


def pack(letter: str, values: Iterable[Any]) -> bytes:
    """Pack numbers into bytes. Raises TypeError for other types, ValueError for numbers out of range."""
    every = tuple(values)
    if letter == FLAG and not all(value in (False, True) for value in every):
        raise TypeError("expected a bool")
    try:
        return struct.pack(f"{len(every)}{letter}", *every)
    except struct.error as error:
        raise ValueError(str(error)) from None
    except OverflowError as error:
        raise ValueError(str(error)) from None


def content(address: int, size: int | None) -> bytes:
    """The bytes at an address, up to the first zero byte if `size` is None. Empty at the address 0."""
    if not address:
        return b""
    if size is None:
        return ctypes.c_char_p(address).value or b""
    return ctypes.string_at(address, size)


def put(address: int, data: bytes) -> None:
    """Write bytes to an address."""
    ctypes.memmove(address, data, len(data))


def text(data: bytes) -> str:
    """Decode bytes as UTF-8, reversibly: `data_of` restores invalid bytes."""
    return data.decode("utf-8", "surrogateescape")


def data_of(value: Any) -> bytes:
    """Encode text as bytes, the inverse of `text`. Raises TypeError for other types."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise TypeError(f"expected a str, got {type(value).__name__}")
    return value.encode("utf-8", "surrogateescape")


class MemoryOwner:
    """Owns memory that C reads, for as long as the keeper lives. Equal bytes share one block."""

    def __init__(self) -> None:
        """Create an empty keeper."""
        self._blocks: dict[bytes, Any] = {}

    def address(self, data: bytes) -> int:
        """The address of a copy of these bytes, followed by a zero byte."""
        block = self._blocks.get(data)
        if block is None:  # if two threads race here, setdefault keeps the block that the first one got
            block = self._blocks.setdefault(data, ctypes.create_string_buffer(data, len(data) + 1))
        return ctypes.addressof(block)


FOR_GOOD = MemoryOwner()
"""Owns memory that C may read during the lifetime of an object, where the end of that lifetime is unknown."""
