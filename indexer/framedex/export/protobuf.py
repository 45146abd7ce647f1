"""Encoder for protocol buffers, field by field (https://protobuf.dev/programming-guides/encoding).

`framedex_native` has a decoder, but exports must work without the native extension.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

_WORD = 1 << 64
_SMALL_VARINTS = [bytes([value]) for value in range(0x80)]
_FIXED64, _LENGTH_DELIMITED = 1, 2


def encode_varint(value: int) -> bytes:
    """Encode a 64-bit integer; a negative one as its two's complement."""
    if 0 <= value < 0x80:
        return _SMALL_VARINTS[value]
    if 0 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    value %= _WORD
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_KEYS = [encode_varint(key) for key in range(1 << 10)]
"""Field tags: the field number, and the wire type in the low three bits."""


def encode_integer(number: int, value: int) -> bytes:
    """Return a varint field."""
    return _KEYS[number << 3] + encode_varint(value)


def encode_fixed64(number: int, value: int) -> bytes:
    """Return a fixed 64-bit integer field."""
    return _KEYS[number << 3 | _FIXED64] + (value % _WORD).to_bytes(8, "little")


def encode_packed(number: int, values: Iterable[int]) -> bytes:
    """Return a packed repeated integer field."""
    return encode_message(number, b"".join(map(encode_varint, values)))


def encode_message(number: int, content: bytes) -> bytes:
    """Return a length-delimited field: a message or bytes."""
    return _KEYS[number << 3 | _LENGTH_DELIMITED] + encode_varint(len(content)) + content


def text(number: int, value: str) -> bytes:
    """Return a string field; text that is not valid UTF-8 is escaped with backslashes."""
    return encode_message(number, value.encode("utf-8", "backslashreplace"))


def encode_double(number: int, value: float) -> bytes:
    """Return a double field."""
    return _KEYS[number << 3 | _FIXED64] + struct.pack("<d", value)
