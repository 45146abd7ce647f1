"""Parsed protocol buffers: the fields of a message by number."""

from __future__ import annotations

from collections import defaultdict

from framedex.base.nativepart import protobuf


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
        return next((value for value in reversed(self._values(number)) if isinstance(value, int)), 0)

    def signed(self, number: int) -> int:
        """The last signed 64-bit integer of a field."""
        return to_signed(self.integer(number))

    def integers(self, number: int) -> list[int]:
        """The unsigned integers of a repeated field, packed or not."""
        found: list[int] = []
        for value in self._values(number):
            if isinstance(value, bytes):
                found += value if value.isascii() else protobuf.packed(value)  # each byte below 128 is a whole varint
            else:
                found.append(value)
        return found

    def content(self, number: int) -> bytes:
        """The last bytes of a field."""
        return next((value for value in reversed(self._values(number)) if isinstance(value, bytes)), b"")

    def contents(self, number: int) -> list[bytes]:
        """The bytes of a repeated field."""
        return [value for value in self._values(number) if isinstance(value, bytes)]

    def text(self, number: int) -> str:
        """The last text of a field."""
        return self.content(number).decode("utf-8", "replace")

    def _values(self, number: int) -> list[int | bytes]:
        return self._fields.get(number, [])


def to_signed(value: int) -> int:
    """Interpret an integer as 64-bit two's complement."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
