"""The integers of MLIR's bytecode, and the errors of reading damaged bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Damage = (LookupError, ValueError, OverflowError, MemoryError)
"""The exceptions raised by reading malformed bytes."""

_T = TypeVar("_T")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer and its end. The trailing zero bits of the first byte are the number of following bytes."""
    first = data[at]
    if first & 1:
        return first >> 1, at + 1
    more = (first & -first).bit_length() - 1 if first else 8
    end = at + more + 1
    if end > len(data):
        raise ValueError("an integer is cut off")
    return int.from_bytes(data[at:end], "little") >> (more + 1), end


def signed_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer whose lowest bit is its sign, and its end."""
    value, at = varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def past(data: bytes, at: int, count: int) -> int:
    """Return the end of `count` integers."""
    for _ in range(count):
        first = data[at]
        at += (first & -first).bit_length() if first else 9
    return at


def found_or(read: Callable[[], _T], otherwise: _T) -> _T:
    """Return the result of `read`, or `otherwise` if the bytes are damaged."""
    try:
        return read()
    except Damage:
        return otherwise
