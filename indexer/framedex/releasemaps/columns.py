"""Columns of integers, each as wide as its largest value: small on disk, and read without decoding."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from framedex.sourcemap import MalformedError

Column = Sequence[int]

_HEAD = struct.Struct("<BI")  # bytes per entry, and number of entries
_CODES: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}  # type codes of `struct` and of `memoryview`


def pack(numbers: Sequence[int]) -> bytes:
    """Pack numbers from 0 to 2**32 - 1 into a column. Raises struct.error for others."""
    most = max(numbers, default=0)
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
    return _HEAD.pack(width, len(numbers)) + struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)


def unpack(data: bytes) -> list[memoryview]:
    """All consecutive columns in `data`, as views of it. Raises MalformedError."""
    view = memoryview(data)
    columns, position, size = [], 0, len(view)
    while position < size:
        if position + _HEAD.size > size:
            raise MalformedError("a column is cut off")
        width, count = _HEAD.unpack_from(view, position)
        begin = position + _HEAD.size
        position = begin + width * count
        if width not in _CODES or position > size:
            raise MalformedError("a column is cut off")
        columns.append(view[begin:position].cast(_CODES[width]))
    return columns


def differences(numbers: Iterable[int], least: int = 0) -> list[int]:
    """The difference of each number from its predecessor; the first number's predecessor is `least`."""
    return [number - before for before, number in pairwise([least, *numbers])]
