"""Parses protocol buffers of other tools: whole messages, and streamed fields of messages too large for memory.

All functions raise ValueError if the bytes are malformed.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator
from typing import BinaryIO

from framedex.nativepart import protobuf

LARGEST = 256 << 20
"""The most bytes of one field of a file."""

_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes by wire type
_LONGEST_VARINT = 10  # bytes


class CutOffError(ValueError):
    """The bytes are truncated within a field."""

    def __init__(self) -> None:
        super().__init__("it is truncated")


class TooLargeError(ValueError):
    """A field declares a size above LARGEST."""

    def __init__(self, size: int) -> None:
        super().__init__(f"one of its fields declares {size:,} bytes")


class Message:
    """The fields of a message, by number. A missing field is 0 or empty."""

    def __init__(self, content: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = defaultdict(list)
        for number, value, _ in protobuf.fields(content):
            self._fields[number].append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def numbers(self) -> set[int]:
        """The numbers of the fields in the message."""
        return set(self._fields)

    def integer(self, number: int) -> int:
        """The last unsigned integer of a field."""
        return next((value for value in reversed(self._of(number)) if isinstance(value, int)), 0)

    def signed(self, number: int) -> int:
        """The last signed 64-bit integer of a field."""
        return signed(self.integer(number))

    def integers(self, number: int) -> list[int]:
        """The unsigned integers of a repeated field, packed or not."""
        found: list[int] = []
        for value in self._of(number):
            if isinstance(value, bytes):
                found += value if value.isascii() else protobuf.packed(value)  # a byte below 128 is an integer
            else:
                found.append(value)
        return found

    def content(self, number: int) -> bytes:
        """The last bytes of a field."""
        return next((value for value in reversed(self._of(number)) if isinstance(value, bytes)), b"")

    def contents(self, number: int) -> list[bytes]:
        """The bytes of a repeated field."""
        return [value for value in self._of(number) if isinstance(value, bytes)]

    def text(self, number: int) -> str:
        """The last text of a field."""
        return self.content(number).decode("utf-8", "replace")

    def _of(self, number: int) -> list[int | bytes]:
        return self._fields.get(number, [])


def signed(value: int) -> int:
    """Interpret an integer as 64-bit two's complement."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def streamed(file: BinaryIO) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of the message in a file: number, and integer or bytes.

    Raises CutOffError if the file ends within a field.
    """
    while True:
        tag = _varint(file, may_end=True)
        if tag is None:
            return
        wire_type = tag & 7
        value: int | bytes
        if wire_type == _VARINT:
            value = _varint(file) or 0
        elif wire_type == _LENGTH_DELIMITED:
            value = _read(file, _varint(file) or 0)
        elif wire_type in _FIXED:
            value = int.from_bytes(_read(file, _FIXED[wire_type]), "little")
        else:
            raise ValueError("it is not a valid protocol buffer")
        yield tag >> 3, value


def first_fields(head: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the complete fields in the first bytes of a message. Raises ValueError if the bytes are not a message."""
    try:
        yield from streamed(io.BytesIO(head))
    except (CutOffError, TooLargeError):
        return


def within_first_field(head: bytes) -> bytes:
    """The first bytes of the first field of a message: skips its number and its length.

    The field may be longer than these bytes.
    """
    length_ends = next((place for place in range(1, min(len(head), _LONGEST_VARINT + 1)) if head[place] < 0x80), 0)
    return head[length_ends + 1 :]


def _varint(file: BinaryIO, *, may_end: bool = False) -> int | None:
    value = shift = 0
    while shift < 7 * _LONGEST_VARINT:
        byte = file.read(1)
        if not byte:
            if may_end and not shift:
                return None
            raise CutOffError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
    raise ValueError("it is not a valid protocol buffer")


def _read(file: BinaryIO, size: int) -> bytes:
    if size > LARGEST:
        raise TooLargeError(size)
    content = file.read(size)
    if len(content) < size:
        raise CutOffError
    return content
