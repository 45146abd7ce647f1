"""Columns of whole numbers, each as wide as its largest needs: small in a file, and no work to read."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
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
    """Each number less the one before it, the first less `least`."""
    return [number - before for before, number in pairwise([least, *numbers])]
