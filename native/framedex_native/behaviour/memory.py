"""Numbers, addresses and texts at an address of this process, as C has them there."""

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
"""The letter of an address, and of a length."""
FLAG = "?"
"""That of a truth value."""


def number(letter: str, address: int) -> Any:
    """A number; `letter` is its type as in the module `struct`."""
    return _TYPES[letter].from_address(address).value


def numbers(letter: str, address: int, count: int) -> tuple[Any, ...]:
    """So many of them; none at the address 0."""
    return tuple((_TYPES[letter] * count).from_address(address)) if address and count else ()


def packed(letter: str, values: Iterable[Any]) -> bytes:
    """The bytes of numbers. Raises TypeError for what is none, ValueError for what does not fit."""
    every = tuple(values)
    if letter == FLAG and not all(value in (False, True) for value in every):
        raise TypeError("a bool is needed")
    try:
        return struct.pack(f"{len(every)}{letter}", *every)
    except struct.error as error:
        raise ValueError(str(error)) from None
    except OverflowError as error:
        raise ValueError(str(error)) from None


def content(address: int, size: int | None) -> bytes:
    """The bytes there; without a size all before the first zero byte. Empty at the address 0."""
    if not address:
        return b""
    if size is None:
        return ctypes.c_char_p(address).value or b""
    return ctypes.string_at(address, size)


def put(address: int, data: bytes) -> None:
    """Write bytes."""
    ctypes.memmove(address, data, len(data))


def text(data: bytes) -> str:
    """Bytes as text; what is no UTF-8 in it can be made bytes again."""
    return data.decode("utf-8", "surrogateescape")


def data_of(value: Any) -> bytes:
    """Text as bytes, the other way about. Raises TypeError for anything else."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value.encode("utf-8", "surrogateescape")


class Keeper:
    """Memory of ours that C reads: it lives as long as this does, and equal bytes are there once."""

    def __init__(self) -> None:
        """With nothing in it."""
        self._blocks: dict[bytes, Any] = {}

    def address(self, data: bytes) -> int:
        """Where these bytes lie, with a zero byte behind them."""
        block = self._blocks.get(data)
        if block is None:  # two threads may both find none, and one of them must not free what the other got
            block = self._blocks.setdefault(data, ctypes.create_string_buffer(data, len(data) + 1))
        return ctypes.addressof(block)


FOR_GOOD = Keeper()
"""For what C may read as long as an object lives whose end nobody tells."""
