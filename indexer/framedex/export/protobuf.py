"""Messages of protocol buffers as bytes, field by field: https://protobuf.dev/programming-guides/encoding

`framedex_native` has a reader of them, too; it is not installed where there is no native part, and exports need none.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

_WORD = 1 << 64
_SHORT = [bytes([value]) for value in range(0x80)]
_FIXED64, _LENGTH_DELIMITED = 1, 2


def varint(value: int) -> bytes:
    """An integer of 64 bits; a negative one by its two's complement."""
    if 0 <= value < 0x80:
        return _SHORT[value]
    if 0 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    value %= _WORD
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_KEYS = [varint(key) for key in range(1 << 10)]
"""What fields begin with: their number, and in three bits their type."""


def integer(number: int, value: int) -> bytes:
    """A field that is an integer."""
    return _KEYS[number << 3] + varint(value)


def fixed64(number: int, value: int) -> bytes:
    """A field that is an integer of 64 bits as it stands."""
    return _KEYS[number << 3 | _FIXED64] + (value % _WORD).to_bytes(8, "little")


def packed(number: int, values: Iterable[int]) -> bytes:
    """A field that is repeated integers."""
    return message(number, b"".join(map(varint, values)))


def message(number: int, content: bytes) -> bytes:
    """A field that is a message, or bytes."""
    return _KEYS[number << 3 | _LENGTH_DELIMITED] + varint(len(content)) + content


def text(number: int, value: str) -> bytes:
    """A field that is a text: what is no UTF-8 in it is written as the index has it."""
    return message(number, value.encode("utf-8", "backslashreplace"))


def double(number: int, value: float) -> bytes:
    """A field that is a number of floating point."""
    return _KEYS[number << 3 | _FIXED64] + struct.pack("<d", value)
