"""The tables of MLIR's bytecode, to which ops refer by number: strings, dialects, attributes, types, properties.

MLIR's documentation describes the sections and integers ("MLIR Bytecode Format", versions 0 to 6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

DAMAGE_ERRORS = (LookupError, ValueError, OverflowError, MemoryError)
"""The exceptions raised by reading malformed bytes."""

_T = TypeVar("_T")


def parse_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return an integer and the position after it.

    The trailing zero bits of the first byte are the number of following bytes.
    """
    first = data[position]
    if first & 1:
        return first >> 1, position + 1
    more = (first & -first).bit_length() - 1 if first else 8
    end = position + more + 1
    if end > len(data):
        raise ValueError("an integer is truncated")
    return int.from_bytes(data[position:end], "little") >> (more + 1), end


def parse_signed_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return an integer that is stored with its sign in the lowest bit, and the position after it."""
    value, position = parse_varint(data, position)
    return (value >> 1) ^ -(value & 1), position


def skip_varints(data: bytes, position: int, count: int) -> int:
    """Return the position after `count` integers."""
    for _ in range(count):
        first = data[position]
        position += (first & -first).bit_length() if first else 9
    return position


def read_or_default(read: Callable[[], _T], default: _T) -> _T:
    """Return the result of `read`, or `default` if the bytes are damaged."""
    try:
        return read()
    except DAMAGE_ERRORS:
        return default


MAGIC = b"ML\xefR"

IR_SECTION = 4
_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS, _PROPERTIES = 0, 1, 2, 3, 8
_DIALECT_VERSIONS_VERSION, UNKNOWN_LOCATIONS_VERSION, NATIVE_PROPERTIES_VERSION = 1, 4, 5  # since version
_STRING_ATTRIBUTE = 2


class ByteExtent(NamedTuple):
    """The byte range of an attribute or a type; without `is_encoded` the bytes are its MLIR text."""

    begin: int
    end: int
    dialect: str
    is_encoded: bool


@dataclass
class ProgramTables:
    """The tables of one program. Reading them raises one of `DAMAGE_ERRORS`, and keeps the content read before."""

    data: bytes
    version: int = 0
    sections: dict[int, tuple[int, int]] = field(default_factory=dict)
    strings: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of ops
    attributes: list[ByteExtent] = field(default_factory=list)
    types: list[ByteExtent] = field(default_factory=list)
    properties: list[tuple[int, int]] = field(default_factory=list)
    _dialects: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Read all tables."""
        self.version, position = parse_varint(self.data, len(MAGIC))
        self._find_sections(self.data.index(b"\0", position) + 1)
        self._read_strings()
        self._read_dialects()
        self._read_extents()
        self._read_properties()

    def section(self, position: int) -> tuple[int, int, int]:
        """Return the number of a section, and the start and the end of its content."""
        head = self.data[position]
        size, position = parse_varint(self.data, position + 1)
        if head & 0x80:
            alignment, position = parse_varint(self.data, position)
            position += -position % max(alignment, 1)
        if position + size > len(self.data):
            raise ValueError("a section is truncated")
        return head & 0x7F, position, position + size

    def count(self, position: int, end: int) -> tuple[int, int]:
        """Return the number of following items, each of at least one byte, and the position after the number."""
        count, position = parse_varint(self.data, position)
        if count > end - position:
            raise ValueError("a list has more items than its section can hold")
        return count, position

    def text(self, number: int) -> str:
        """Return the builtin dialect's string with this number; empty for another attribute."""
        code, position = self.attribute(number)
        return self.strings[parse_varint(self.data, position)[0]] if code == _STRING_ATTRIBUTE else ""

    def attribute(self, number: int) -> tuple[int, int]:
        """Return the code of a builtin attribute and the start of its content; -1 for another dialect."""
        extent = self.attributes[number]
        if not extent.is_encoded or extent.dialect != "builtin":
            return -1, extent.begin
        return parse_varint(self.data, extent.begin)

    def _find_sections(self, position: int) -> None:
        while position < len(self.data):
            number, begin, end = self.section(position)
            self.sections.setdefault(number, (begin, end))
            position = end

    def _read_strings(self) -> None:
        position, end = self.sections[_STRINGS]
        count, position = self.count(position, end)
        for _ in range(count):  # the length of the last string comes first
            length, position = parse_varint(self.data, position)
            end -= length
            if length < 1 or end < position:
                raise ValueError("a string is truncated")
            self.strings.append(self.data[end : end + length - 1].decode("utf-8", "replace"))
        self.strings.reverse()

    def _read_dialects(self) -> None:
        position, end = self.sections[_DIALECTS]
        count, position = self.count(position, end)
        for _ in range(count):
            name, position = parse_varint(self.data, position)
            if self.version >= _DIALECT_VERSIONS_VERSION:
                if name & 1:
                    _, _, position = self.section(position)
                name >>= 1
            self._dialects.append(self.strings[name])
        if self.version >= UNKNOWN_LOCATIONS_VERSION:
            _, position = parse_varint(self.data, position)  # the number of op kinds
        while position < end:
            _, position = parse_varint(self.data, position)
            count, position = self.count(position, end)
            for _ in range(count):
                name, position = parse_varint(self.data, position)
                self.kinds.append(self.strings[name >> (self.version >= NATIVE_PROPERTIES_VERSION)])

    def _read_extents(self) -> None:
        position, end = self.sections[_OFFSETS]
        begin, _ = self.sections[_ATTRIBUTES]
        attributes, position = parse_varint(self.data, position)
        types, position = parse_varint(self.data, position)
        for total, extents in ((attributes, self.attributes), (types, self.types)):
            while len(extents) < total:
                dialect, position = parse_varint(self.data, position)
                count, position = self.count(position, end)
                if not count:
                    raise ValueError("a group of attributes is empty")
                for _ in range(count):
                    size, position = parse_varint(self.data, position)
                    extents.append(ByteExtent(begin, begin + (size >> 1), self._dialects[dialect], bool(size & 1)))
                    begin += size >> 1

    def _read_properties(self) -> None:
        if _PROPERTIES not in self.sections:
            return
        position, end = self.sections[_PROPERTIES]
        count, position = self.count(position, end)
        for _ in range(count):
            size, position = parse_varint(self.data, position)
            if size > end - position:
                raise ValueError("a property is truncated")
            self.properties.append((position, position + size))
            position += size
