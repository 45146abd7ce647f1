"""Columns of whole numbers, each as wide as its largest needs: small in a file, and no work to read."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal

from framedex.sourcemap import MalformedError

Column = Sequence[int]

_HEAD = struct.Struct("<BI")  # bytes of an entry, and how many entries
_CODES: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}  # of `struct` and of `memoryview`


def pack(numbers: Sequence[int]) -> bytes:
    """Numbers from 0 to 2**32 - 1 as a column. Raises struct.error for others."""
    most = max(numbers, default=0)
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
    return _HEAD.pack(width, len(numbers)) + struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)


def unpack(data: bytes) -> list[memoryview]:
    """All columns that stand one after the other in `data`, which they are views of. Raises MalformedError."""
    view = memoryview(data)
    columns, position = [], 0
    while position < len(view):
        if position + _HEAD.size > len(view):
            raise MalformedError("a column is cut off")
        width, count = _HEAD.unpack_from(view, position)
        begin = position + _HEAD.size
        position = begin + width * count
        if width not in _CODES or position > len(view):
            raise MalformedError("a column is cut off")
        columns.append(view[begin:position].cast(_CODES[width]))
    return columns


def fold(numbers: Iterable[int]) -> list[int]:
    """Numbers of either sign as numbers from 0 on: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return [number * 2 if number >= 0 else -2 * number - 1 for number in numbers]


def unfold(column: Iterable[int]) -> Iterator[int]:
    """The numbers that `fold` was given."""
    return (number >> 1 ^ -(number & 1) for number in column)


def differences(numbers: Iterable[int]) -> list[int]:
    """Each number less the one before it (the first less 0), folded."""
    before = 0
    found = []
    for number in numbers:
        found.append(number - before)
        before = number
    return fold(found)


def sums(column: Iterable[int]) -> list[int]:
    """The numbers that `differences` was given."""
    return list(accumulate(unfold(column)))
