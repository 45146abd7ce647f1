"""The tables of MLIR's bytecode, to which ops refer by number: strings, dialects, attributes, types, properties.

The sections are described in MLIR's documentation ("MLIR Bytecode Format", versions 0 to 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from framedex.programs.encoding import varint

MAGIC = b"ML\xefR"

IR = 4
_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS, _PROPERTIES = 0, 1, 2, 3, 8
_DIALECT_VERSIONS, UNKNOWN_LOCATIONS, NATIVE_PROPERTIES = 1, 4, 5  # since version
_STRING = 2


class Extent(NamedTuple):
    """The extent of the bytes of an attribute or a type; without `is_encoded` they are its MLIR text."""

    begin: int
    end: int
    dialect: str
    is_encoded: bool


@dataclass
class Tables:
    """The tables of one program. Reading them raises one of `Damage`; the content read before stays."""

    data: bytes
    version: int = 0
    sections: dict[int, tuple[int, int]] = field(default_factory=dict)
    strings: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of ops
    attributes: list[Extent] = field(default_factory=list)
    types: list[Extent] = field(default_factory=list)
    properties: list[tuple[int, int]] = field(default_factory=list)
    _dialects: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Read all tables."""
        self.version, at = varint(self.data, len(MAGIC))
        self._find_sections(self.data.index(b"\0", at) + 1)
        self._read_strings()
        self._read_dialects()
        self._read_extents()
        self._read_properties()

    def section(self, at: int) -> tuple[int, int, int]:
        """Return the number of a section, and the begin and the end of its content."""
        head = self.data[at]
        size, at = varint(self.data, at + 1)
        if head & 0x80:
            alignment, at = varint(self.data, at)
            at += -at % max(alignment, 1)
        if at + size > len(self.data):
            raise ValueError("a section is cut off")
        return head & 0x7F, at, at + size

    def count(self, at: int, end: int) -> tuple[int, int]:
        """Return the number of following items, each of at least one byte, and its end."""
        count, at = varint(self.data, at)
        if count > end - at:
            raise ValueError("there are more than there is room for")
        return count, at

    def text(self, number: int) -> str:
        """Return the builtin dialect's string with this number; empty for another attribute."""
        code, at = self.attribute(number)
        return self.strings[varint(self.data, at)[0]] if code == _STRING else ""

    def attribute(self, number: int) -> tuple[int, int]:
        """Return the code of a builtin attribute and the begin of its content; -1 for another dialect."""
        extent = self.attributes[number]
        if not extent.is_encoded or extent.dialect != "builtin":
            return -1, extent.begin
        return varint(self.data, extent.begin)

    def _find_sections(self, at: int) -> None:
        while at < len(self.data):
            number, begin, end = self.section(at)
            self.sections.setdefault(number, (begin, end))
            at = end

    def _read_strings(self) -> None:
        at, end = self.sections[_STRINGS]
        count, at = self.count(at, end)
        for _ in range(count):  # the length of the last string comes first
            length, at = varint(self.data, at)
            end -= length
            if length < 1 or end < at:
                raise ValueError("a string is cut off")
            self.strings.append(self.data[end : end + length - 1].decode("utf-8", "replace"))
        self.strings.reverse()

    def _read_dialects(self) -> None:
        at, end = self.sections[_DIALECTS]
        count, at = self.count(at, end)
        for _ in range(count):
            name, at = varint(self.data, at)
            if self.version >= _DIALECT_VERSIONS:
                if name & 1:
                    _, _, at = self.section(at)
                name >>= 1
            self._dialects.append(self.strings[name])
        if self.version >= UNKNOWN_LOCATIONS:
            _, at = varint(self.data, at)  # the number of op kinds
        while at < end:
            _, at = varint(self.data, at)
            count, at = self.count(at, end)
            for _ in range(count):
                name, at = varint(self.data, at)
                self.kinds.append(self.strings[name >> (self.version >= NATIVE_PROPERTIES)])

    def _read_extents(self) -> None:
        at, end = self.sections[_OFFSETS]
        begin, _ = self.sections[_ATTRIBUTES]
        attributes, at = varint(self.data, at)
        types, at = varint(self.data, at)
        for wanted, extents in ((attributes, self.attributes), (types, self.types)):
            while len(extents) < wanted:
                dialect, at = varint(self.data, at)
                count, at = self.count(at, end)
                if not count:
                    raise ValueError("a group of attributes is empty")
                for _ in range(count):
                    size, at = varint(self.data, at)
                    extents.append(Extent(begin, begin + (size >> 1), self._dialects[dialect], bool(size & 1)))
                    begin += size >> 1

    def _read_properties(self) -> None:
        if _PROPERTIES not in self.sections:
            return
        at, end = self.sections[_PROPERTIES]
        count, at = self.count(at, end)
        for _ in range(count):
            size, at = varint(self.data, at)
            if size > end - at:
                raise ValueError("a property is cut off")
            self.properties.append((at, at + size))
            at += size
