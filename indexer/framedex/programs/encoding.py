"""The numbers of MLIR's bytecode, and what reading damaged bytes raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Damage = (LookupError, ValueError, OverflowError, MemoryError)
"""What reading raises where the bytes are not what they should be."""

_T = TypeVar("_T")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer, and where it ends: the zeros at the lower end of the first byte say how many bytes follow."""
    first = data[at]
    if first & 1:
        return first >> 1, at + 1
    more = (first & -first).bit_length() - 1 if first else 8
    end = at + more + 1
    if end > len(data):
        raise ValueError("an integer is cut off")
    return int.from_bytes(data[at:end], "little") >> (more + 1), end


def signed_varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer whose lowest bit is its sign, and where it ends."""
    value, at = varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def past(data: bytes, at: int, count: int) -> int:
    """Where so many integers end."""
    for _ in range(count):
        first = data[at]
        at += (first & -first).bit_length() if first else 9
    return at


def found_or(read: Callable[[], _T], otherwise: _T) -> _T:
    """What `read` finds, unless the bytes are damaged."""
    try:
        return read()
    except Damage:
        return otherwise
