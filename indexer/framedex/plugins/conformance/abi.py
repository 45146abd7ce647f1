"""The C API as Python objects: functions, extensions, enumerations, and structs in memory.

`api.json` describes them. `native/abi/generate_conformance.py` writes that file.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_C_TYPES: dict[str, Any] = {
    "Q": ctypes.c_uint64, "q": ctypes.c_int64, "I": ctypes.c_uint32, "i": ctypes.c_int32, "?": ctypes.c_uint8,
    "f": ctypes.c_float, "d": ctypes.c_double, "P": ctypes.c_uint64,
}  # fmt: skip
POISON = 0xA5  # the byte in every output before a call, and in the guard behind every struct
_GUARD_BYTES = 64
_HEADER = ("struct_size", "extension_start")


@dataclass(frozen=True, slots=True)
class Field:
    """A struct member. `type` is a type letter of the module `struct`, P for pointers, or the name of a struct.

    `since` is the minor version that added it, or 0 if it is older than the history.
    """

    name: str
    type: str
    offset: int
    is_output: bool
    since: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of a struct, the size that callers store in it (None without such a member), and its fields."""

    name: str
    size: int
    struct_size: int | None
    fields: dict[str, Field]

    def size_at(self, minor: int) -> int:
        """The `struct_size` of a caller that was compiled for this minor version."""
        old = [field for field in self.fields.values() if field.since <= minor]
        return max(field.offset + size_of(field.type) for field in old)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table, at the index `position`, or of an extension, at the offset `position`."""

    name: str
    arguments: str
    returns_error: bool
    position: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension: its enumerator, its size in bytes, and its functions by member name."""

    name: str
    number: int
    size: int
    functions: dict[str, Function]


def read_version() -> tuple[int, int]:
    """The described version of the C API."""
    major, minor = _data()["version"]
    return major, minor


@functools.cache
def functions() -> dict[str, Function]:
    """The functions of the table by name, in table order."""
    rows = enumerate(_data()["functions"])
    return {name: Function(name, arguments, fails, at, since) for at, (name, arguments, fails, since) in rows}


@functools.cache
def read_extensions() -> dict[str, Extension]:
    """The described extensions by name."""
    found = {}
    for name, (number, struct, rows) in _data()["extensions"].items():
        table = read_layout(struct)
        members = {
            member: Function(full_name, arguments, fails, table.fields[member].offset)
            for full_name, member, arguments, fails in rows
        }
        found[name] = Extension(name, number, table.size, members)
    return found


@functools.cache
def read_layout(name: str) -> Layout:
    """The layout of a struct."""
    size, struct_size, rows = _data()["structs"][name]
    return Layout(name, size, struct_size, {row[0]: Field(*row) for row in rows})


def read_enumerators(name: str) -> dict[str, int]:
    """The values of an enumeration by name, without the prefix: `F32`."""
    values: dict[str, int] = _data()["enums"][name]
    return values


@functools.cache
def read_error_codes() -> dict[int, str]:
    """The names of the error codes by value."""
    return {value: name for name, value in read_enumerators("PJRT_Error_Code").items()}


def size_of(type_name: str) -> int:
    """The size of a field of this type in bytes."""
    return ctypes.sizeof(_C_TYPES[type_name]) if type_name in _C_TYPES else read_layout(type_name).size


class Struct:
    """A struct in memory of its own, or at an address. Its fields are attributes.

    A field accepts an integer, bytes, a ctypes object, another struct, or None for a null pointer. Objects stay alive
    as long as the struct does. Bytes behind `struct_size` are a guard: `broken_guard` finds a write to them.
    """

    __slots__ = ("_alive", "_layout", "_limit", "_memory", "_view")

    def __init__(self, name: str, /, *, at: int | None = None, struct_size: int | None = None, **values: Any) -> None:
        self._layout = read_layout(name)
        self._alive: list[Any] = []
        self._limit = struct_size or self._layout.struct_size or self._layout.size
        if at is not None:
            self._memory = (ctypes.c_char * self._layout.size).from_address(at)
            self._view = memoryview(self._memory).cast("B")
            return
        capacity = max(self._limit, self._layout.size)
        used = bytes(min(self._limit, capacity))
        self._memory = (ctypes.c_char * (capacity + _GUARD_BYTES)).from_buffer(
            bytearray(used.ljust(capacity + _GUARD_BYTES, bytes([POISON])))
        )
        self._view = memoryview(self._memory).cast("B")
        if "struct_size" in self._layout.fields:
            self.struct_size = self._limit
        for field, value in values.items():
            setattr(self, field, value)

    @property
    def address(self) -> int:
        """The address of the struct, valid as long as this object lives."""
        return ctypes.addressof(self._memory)

    @property
    def broken_guard(self) -> int | None:
        """The offset of the first changed byte after `struct_size`; None if no byte changed."""
        changed = (at for at, byte in enumerate(bytes(self._view[self._limit :])) if byte != POISON)
        first = next(changed, None)
        return None if first is None else self._limit + first

    def __getattr__(self, name: str) -> Any:
        field = self._field(name)
        if field.type not in _C_TYPES:
            return Struct(field.type, at=self.address + field.offset)
        return _C_TYPES[field.type].from_buffer(self._memory, field.offset).value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Struct.__slots__:
            object.__setattr__(self, name, value)
            return
        field = self._field(name)
        if field.type not in _C_TYPES:
            content = value._view[: read_layout(field.type).size]
            self._view[field.offset : field.offset + len(content)] = content
            self._alive.append(value)
            return
        _C_TYPES[field.type].from_buffer(self._memory, field.offset).value = self._number(value)

    def poison_outputs(self, given: Container[str], minor: int) -> None:
        """Fill each output with POISON, except `given` fields and those newer than `minor`."""
        for field in self._outputs(given, minor):
            self._view[field.offset : field.offset + size_of(field.type)] = bytes([POISON]) * size_of(field.type)

    def unfilled_outputs(self, given: Container[str], minor: int) -> list[str]:
        """The outputs that still have POISON. An output `x` may stay unfilled if the output `x_is_set` is false."""
        return [
            field.name
            for field in self._outputs(given, minor)
            if set(self._view[field.offset : field.offset + size_of(field.type)]) == {POISON}
            and not (f"{field.name}_is_set" in self._layout.fields and not getattr(self, f"{field.name}_is_set"))
        ]

    def invalid_booleans(self, given: Container[str], minor: int) -> list[str]:
        """The boolean outputs that are neither 0 nor 1."""
        return [each.name for each in self._outputs(given, minor) if each.type == "?" and getattr(self, each.name) > 1]

    def _outputs(self, given: Container[str], minor: int) -> list[Field]:
        return [
            field
            for field in self._layout.fields.values()
            if field.is_output and field.name not in given and field.since <= minor and field.type in _C_TYPES
            if field.offset + size_of(field.type) <= self._limit
        ]

    def _field(self, name: str) -> Field:
        try:
            return self._layout.fields[name]
        except KeyError:
            raise AttributeError(f"{self._layout.name} has no field {name}") from None

    def _number(self, value: Any) -> Any:
        if value is None:
            return 0
        if isinstance(value, Struct):
            self._alive.append(value)
            return value.address
        if isinstance(value, (int, float)):
            return value
        if isinstance(value, bytes):
            value = ctypes.create_string_buffer(value, len(value) + 1)
        self._alive.append(value)
        if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
            return ctypes.cast(value, ctypes.c_void_p).value
        return ctypes.addressof(value)


@functools.cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("api.json").read_bytes())
    return data
