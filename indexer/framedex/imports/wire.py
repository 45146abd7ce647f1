"""Streams the fields of protocol buffers of other tools that are too large for memory.

All functions raise ValueError if the bytes are malformed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

MAX_FIELD_BYTES = 256 << 20
"""The maximum number of bytes of one field."""

_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes by wire type
_MAX_VARINT_BYTES = 10  # bytes


class TruncatedFieldError(ValueError):
    """The bytes are truncated within a field."""

    def __init__(self) -> None:
        super().__init__("it is truncated")


class FieldTooLargeError(ValueError):
    """A field declares a size above MAX_FIELD_BYTES."""

    def __init__(self, size: int) -> None:
        super().__init__(f"one of its fields declares {size:,} bytes")


def stream_fields(file: BinaryIO) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of the message in a file: number, and integer or bytes.

    Raises TruncatedFieldError if the file ends within a field.
    """
    while True:
        tag = _parse_varint(file, may_end=True)
        if tag is None:
            return
        wire_type = tag & 7
        value: int | bytes
        if wire_type == _VARINT:
            value = _parse_varint(file) or 0
        elif wire_type == _LENGTH_DELIMITED:
            value = _read(file, _parse_varint(file) or 0)
        elif wire_type in _FIXED:
            value = int.from_bytes(_read(file, _FIXED[wire_type]), "little")
        else:
            raise ValueError("it is not a valid protocol buffer")
        yield tag >> 3, value


def parse_first_fields(head: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the complete fields in the first bytes of a message. Raises ValueError if the bytes are not a message."""
    try:
        yield from stream_fields(io.BytesIO(head))
    except (TruncatedFieldError, FieldTooLargeError):
        return


def skip_field_head(head: bytes) -> bytes:
    """The first bytes of the first field of a message: skips its number and its length.

    The field may be longer than these bytes.
    """
    length_ends = next((place for place in range(1, min(len(head), _MAX_VARINT_BYTES + 1)) if head[place] < 0x80), 0)
    return head[length_ends + 1 :]


def _parse_varint(file: BinaryIO, *, may_end: bool = False) -> int | None:
    value = shift = 0
    while shift < 7 * _MAX_VARINT_BYTES:
        byte = file.read(1)
        if not byte:
            if may_end and not shift:
                return None
            raise TruncatedFieldError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
    raise ValueError("it is not a valid protocol buffer")


def _read(file: BinaryIO, size: int) -> bytes:
    if size > MAX_FIELD_BYTES:
        raise FieldTooLargeError(size)
    content = file.read(size)
    if len(content) < size:
        raise TruncatedFieldError
    return content
