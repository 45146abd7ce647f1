"""A reader and writer of protocol buffer fields (https://protobuf.dev/programming-guides/encoding).

The mock TPU imports this module into another package, so it imports nothing from this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}  # size in bytes by wire type
_MAX_VARINT_BYTES = 10  # in bytes
_DAMAGED = "a protocol buffer is damaged"


def fields(message: bytes) -> Iterator[tuple[int, int | bytes, bytes]]:
    """Yield the fields of a message in order. Raises ValueError after the readable ones.

    Each field is its number, its value and its encoded bytes. The value is bytes for length-delimited fields, otherwise
    an integer.
    """
    position = 0
    while position < len(message):
        start = position
        tag, position = _varint(message, position)
        wire_type = tag & 7
        value: int | bytes
        if wire_type == _VARINT:
            value, position = _varint(message, position)
        elif wire_type == _LENGTH_DELIMITED:
            size, position = _varint(message, position)
            position += size
            value = message[position - size : position]
        elif wire_type in _FIXED:
            position += _FIXED[wire_type]
            value = int.from_bytes(message[position - _FIXED[wire_type] : position], "little")
        else:
            raise ValueError(_DAMAGED)
        if position > len(message):
            raise ValueError(_DAMAGED)
        yield tag >> 3, value, message[start:position]


def packed(content: bytes) -> Iterator[int]:
    """Yield the integers of a packed field. Raises ValueError after the readable ones."""
    value = shift = 0
    for byte in content:  # inlined instead of `_varint`, because profiles have millions of them
        if byte >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift == 7 * _MAX_VARINT_BYTES:
                break
        else:
            yield value | byte << shift
            value = shift = 0
    if shift:
        raise ValueError(_DAMAGED)


def message_field(number: int, content: bytes) -> bytes:
    """Encode a field with a message, a text or packed integers."""
    return _encoded_varint(number << 3 | _LENGTH_DELIMITED) + _encoded_varint(len(content)) + content


def integer_field(number: int, value: int) -> bytes:
    """Encode a field with a non-negative integer."""
    return _encoded_varint(number << 3 | _VARINT) + _encoded_varint(value)


def packed_field(number: int, values: Iterable[int]) -> bytes:
    """Encode a packed field of non-negative integers."""
    return message_field(number, b"".join(map(_encoded_varint, values)))


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """Read an integer, and return it with its end position."""
    value = shift = 0
    try:
        while shift < 7 * _MAX_VARINT_BYTES:
            byte = message[position]
            position += 1
            if byte < 0x80:
                return value | byte << shift, position
            value |= (byte & 0x7F) << shift
            shift += 7
    except IndexError:
        pass
    raise ValueError(_DAMAGED)


def _encoded_varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
