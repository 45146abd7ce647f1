"""MLIR's bytecode, in which JAX gives programs to the runtime: of each op its kind and its location.

The encoding is described in MLIR's documentation ("MLIR Bytecode Format", versions 0 to 6); that of locations follows
`BuiltinDialectBytecode.td`. Nothing is raised on bad input: what can be read is there, with the problem.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from framedex.model.programs import Program, ProgramOp
from framedex.programs.locations import Joined, Line, Locations, Named, Node

MAGIC = b"ML\xefR"

MOST_OPS = 1_000_000
"""Ops of a program that are looked at: some seconds' worth."""

MOST_LINE = 2**31 - 1
"""The number of a line that is one."""

_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS, _IR, _PROPERTIES = 0, 1, 2, 3, 4, 8
_DIALECT_VERSIONS, _REGIONS_APART, _USE_LISTS, _UNKNOWN_LOCATIONS, _NATIVE_PROPERTIES = 1, 2, 3, 4, 5  # since version
_HAS_ATTRIBUTES, _HAS_RESULTS, _HAS_OPERANDS, _HAS_SUCCESSORS, _HAS_REGIONS = 1, 2, 4, 8, 16
_HAS_USE_LISTS, _HAS_PROPERTIES = 32, 64
_STRING, _CALL_SITE, _LINE, _FUSED, _FUSED_WITH_METADATA, _NAME, _RANGE = 2, 10, 11, 12, 13, 14, 22
_STRUCTURE = {"return", "func", "module", "mesh", "unrealized_conversion_cast"}  # they compute nothing
_VERSION = re.compile(r"_v\d+$")  # of the ops of VHLO, in which StableHLO is kept

_Damage = (LookupError, ValueError, OverflowError, MemoryError)
_T = TypeVar("_T")


def read_bytecode(data: bytes) -> Program:
    """What a program in bytecode says of its lines."""
    reader = _Reader(data)
    problem = ""
    try:
        reader.read()
    except _Damage:
        problem = "it is damaged, or in a form of MLIR's bytecode that is not known: some of its ops are missing"
    else:
        if reader.is_cut:
            problem = f"only its first {MOST_OPS:,} ops were looked at"
    ops: Counter[ProgramOp] = Counter()
    for (kind, location), count in reader.ops.items():
        name, frames = reader.locations.of_op(location)
        ops[ProgramOp(reader.kind(kind), name, frames)] += count
    return Program(reader.module_name(), {op: count for op, count in ops.items() if op.kind not in _STRUCTURE}, problem)


@dataclass
class _Reader:
    """A program on its way: the tables that ops refer to, and how many ops of a kind and location there are."""

    data: bytes
    ops: Counter[tuple[int, int]] = field(default_factory=Counter)
    is_cut: bool = False
    _version: int = 0
    _sections: dict[int, tuple[int, int]] = field(default_factory=dict)
    _strings: list[str] = field(default_factory=list)
    _kinds: list[str] = field(default_factory=list)
    _dialects: list[str] = field(default_factory=list)
    _extents: list[tuple[int, int, int, bool]] = field(default_factory=list)  # of attributes: begin, end, dialect, ...

    def __post_init__(self) -> None:
        self.locations = Locations(self._node)

    def read(self) -> None:
        """Read all. Raises one of `_Damage`; what was read by then stays."""
        self._version, at = _varint(self.data, len(MAGIC))
        self._find_sections(self.data.index(b"\0", at) + 1)
        self._read_strings()
        self._read_dialects()
        self._read_extents()
        begin, end = self._sections.get(_IR, (0, 0))
        self._read_ops(begin, end)

    def kind(self, number: int) -> str:
        """The kind of ops by its number."""
        name = self._kinds[number] if number < len(self._kinds) else ""
        return _VERSION.sub("", name)

    def module_name(self) -> str:
        """The name of the module: JAX's `jit_f`. It is the first property, or attribute, of the outermost op."""
        return _or(self._module_name, "")

    def _module_name(self) -> str:
        at, _ = self._sections[_IR]
        _, at = _varint(self.data, at)  # one op, without arguments
        _, at = _varint(self.data, at)
        mask, at = self.data[at], at + 1
        _, at = _varint(self.data, at)
        if mask & _HAS_ATTRIBUTES:
            _, at = _varint(self.data, at)
        if not mask & _HAS_PROPERTIES:
            return ""
        number, _ = _varint(self.data, at)
        at, _ = self._sections[_PROPERTIES]
        _, at = _varint(self.data, at)
        for _ in range(number):
            size, at = _varint(self.data, at)
            at += size
        _, at = _varint(self.data, at)
        attribute, _ = _varint(self.data, at)
        return self._text(attribute >> 1) if attribute & 1 else ""

    # Tables

    def _find_sections(self, at: int) -> None:
        while at < len(self.data):
            number, begin, end = self._section(at)
            self._sections.setdefault(number, (begin, end))
            at = end

    def _section(self, at: int) -> tuple[int, int, int]:
        """The number of a section, and where its content begins and ends."""
        head = self.data[at]
        size, at = _varint(self.data, at + 1)
        if head & 0x80:
            alignment, at = _varint(self.data, at)
            at += -at % max(alignment, 1)
        if at + size > len(self.data):
            raise ValueError("a section is cut off")
        return head & 0x7F, at, at + size

    def _read_strings(self) -> None:
        at, end = self._sections[_STRINGS]
        count, at = self._count(at, end)
        for _ in range(count):  # the length of the last string comes first
            length, at = _varint(self.data, at)
            end -= length
            if length < 1 or end < at:
                raise ValueError("a string is cut off")
            self._strings.append(self.data[end : end + length - 1].decode("utf-8", "replace"))
        self._strings.reverse()

    def _count(self, at: int, end: int) -> tuple[int, int]:
        """A number of things of which each takes a byte at least."""
        count, at = _varint(self.data, at)
        if count > end - at:
            raise ValueError("there are more than there is room for")
        return count, at

    def _read_dialects(self) -> None:
        at, end = self._sections[_DIALECTS]
        count, at = self._count(at, end)
        for _ in range(count):
            name, at = _varint(self.data, at)
            if self._version >= _DIALECT_VERSIONS:
                if name & 1:
                    _, _, at = self._section(at)
                name >>= 1
            self._dialects.append(self._strings[name])
        if self._version >= _UNKNOWN_LOCATIONS:
            _, at = _varint(self.data, at)  # how many kinds of ops follow
        while at < end:
            _, at = _varint(self.data, at)
            count, at = self._count(at, end)
            for _ in range(count):
                name, at = _varint(self.data, at)
                self._kinds.append(self._strings[name >> (self._version >= _NATIVE_PROPERTIES)])

    def _read_extents(self) -> None:
        at, end = self._sections[_OFFSETS]
        begin, _ = self._sections[_ATTRIBUTES]
        attributes, at = _varint(self.data, at)
        _, at = _varint(self.data, at)  # types
        while len(self._extents) < attributes:
            dialect, at = _varint(self.data, at)
            count, at = self._count(at, end)
            for _ in range(count):
                size, at = _varint(self.data, at)
                self._extents.append((begin, begin + (size >> 1), dialect, bool(size & 1)))
                begin += size >> 1
            if not count:
                raise ValueError("a group of attributes is empty")

    # Attributes

    def _node(self, number: int) -> Node:
        return _or(lambda: self._location(number), None)

    def _location(self, number: int) -> Node:
        code, at = self._attribute(number)
        if code == _NAME:
            name, at = _varint(self.data, at)
            inner, _ = _varint(self.data, at)
            return Named(self._text(name), inner)
        if code == _CALL_SITE:
            callee, at = _varint(self.data, at)
            caller, _ = _varint(self.data, at)
            return Joined((callee, caller))
        if code in (_LINE, _RANGE):
            file, at = _varint(self.data, at)
            form, at = _varint(self.data, at) if code == _RANGE else (1, at)
            line, _ = _varint(self.data, at) if form else (0, at)
            return Line(self._text(file), line if line <= MOST_LINE else 0)
        if code in (_FUSED, _FUSED_WITH_METADATA):
            count, at = _varint(self.data, at)
            parts = []
            for _ in range(min(count, len(self.data))):
                part, at = _varint(self.data, at)
                parts.append(part)
            return Joined(tuple(parts))
        return None

    def _text(self, number: int) -> str:
        code, at = self._attribute(number)
        return self._strings[_varint(self.data, at)[0]] if code == _STRING else ""

    def _attribute(self, number: int) -> tuple[int, int]:
        """The code of an attribute of the builtin dialect, and where its content is; -1 for any other."""
        begin, _, dialect, is_encoded = self._extents[number]
        if not is_encoded or self._dialects[dialect] != "builtin":
            return -1, begin
        return _varint(self.data, begin)

    # Ops

    def _read_ops(self, at: int, end: int) -> None:
        """Count the ops of the section, in regions of whatever depth."""
        blocks = [1]  # that are to come of each region which is being read, the innermost last
        left = [0]  # ops of the block in each of them
        seen = 0
        pending: list[list[bool]] = [[]]  # regions that are to come of the op which each of them is in
        while blocks:
            if pending[-1]:
                if pending[-1].pop():
                    _, at, _ = self._section(at)
                count, at = _varint(self.data, at)
                if count:
                    _, at = _varint(self.data, at)  # values
                    blocks.append(count)
                    left.append(0)
                    pending.append([])
            elif left[-1]:
                left[-1] -= 1
                seen += 1
                if seen > MOST_OPS:
                    self.is_cut = True
                    return
                at, pending[-1] = self._read_op(at, end)
            elif blocks[-1]:
                blocks[-1] -= 1
                count, at = _varint(self.data, at)
                left[-1] = count >> 1
                if count & 1:
                    at = self._past_arguments(at, end)
            else:
                blocks.pop()
                left.pop()
                pending.pop()

    def _read_op(self, at: int, end: int) -> tuple[int, list[bool]]:
        """Count one op: where it ends but for its regions, and of each of those, the last one first, whether a section
        begins with it."""
        data = self.data
        kind, at = _varint(data, at)
        mask = data[at]
        location, at = _varint(data, at + 1)
        self.ops[kind, location] += 1
        if mask & _HAS_ATTRIBUTES:
            at = _past(data, at, 1)
        if mask & _HAS_PROPERTIES:
            at = _past(data, at, 1)
        results = 0
        if mask & _HAS_RESULTS:
            results, at = self._count(at, end)
            at = _past(data, at, results)
        if mask & _HAS_OPERANDS:
            count, at = self._count(at, end)
            at = _past(data, at, count)
        if mask & _HAS_SUCCESSORS:
            count, at = self._count(at, end)
            at = _past(data, at, count)
        if mask & _HAS_USE_LISTS:
            at = self._past_use_lists(at, end, results)
        if not mask & _HAS_REGIONS:
            return at, []
        count, at = _varint(data, at)
        if count >> 1 > end - at:
            raise ValueError("there are more regions than there is room for")
        is_apart = bool(count & 1) and self._version >= _REGIONS_APART
        return at, [*[False] * ((count >> 1) - 1), is_apart] if count >> 1 else []

    def _past_arguments(self, at: int, end: int) -> int:
        count, at = self._count(at, end)
        for _ in range(count):
            kind, at = _varint(self.data, at)
            if self._version < _UNKNOWN_LOCATIONS or kind & 1:
                _, at = _varint(self.data, at)
        if self._version >= _USE_LISTS:
            mask, at = self.data[at], at + 1
            if mask & _HAS_USE_LISTS:
                at = self._past_use_lists(at, end, count)
        return at

    def _past_use_lists(self, at: int, end: int, values: int) -> int:
        lists = 1
        if values != 1:
            lists, at = self._count(at, end)
        for _ in range(lists):
            if values != 1:
                _, at = _varint(self.data, at)
            count, at = _varint(self.data, at)
            if count >> 1 > end - at:
                raise ValueError("a list is cut off")
            at = _past(self.data, at, count >> 1)
        return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer, and where it ends: the zeros at the lower end of the first byte say how many bytes follow."""
    first = data[at]
    if first & 1:
        return first >> 1, at + 1
    more = (first & -first).bit_length() - 1 if first else 8
    end = at + more + 1
    if end > len(data):
        raise ValueError("an integer is cut off")
    return int.from_bytes(data[at:end], "little") >> (more + 1), end


def _past(data: bytes, at: int, count: int) -> int:
    """Where so many integers end."""
    for _ in range(count):
        first = data[at]
        at += (first & -first).bit_length() if first else 9
    return at


def _or(read: Callable[[], _T], otherwise: _T) -> _T:
    try:
        return read()
    except _Damage:
        return otherwise
