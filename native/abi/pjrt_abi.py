"""The PJRT C ABI as data, and the order in which C wants to see it.

Reads the JSON description of one version of the PJRT C API (functions, argument structs, enums, typedefs; see the
`about` entry of the file for its units). Offsets and sizes are bytes on LP64.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

API_STRUCT = "PJRT_Api"
API_HEADER_FIELDS = ("struct_size", "extension_start", "pjrt_api_version")


@dataclass(frozen=True)
class Field:
    """A struct member. `name` is None for an anonymous union, whose members are `members`."""

    name: str | None
    type: str
    offset: int
    is_output: bool
    members: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Struct:
    """A struct. `struct_size` is what a caller of this version stores in its `struct_size` member (None: has none)."""

    name: str
    size: int
    struct_size: int | None
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The member of that name, or None."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True)
class Function:
    """An entry of the `PJRT_Api` table. Every one takes a pointer to its argument struct."""

    name: str
    arguments: str
    returns: str

    @property
    def returns_error(self) -> bool:
        """Whether it returns `PJRT_Error*`; the others return void."""
        return self.returns == "PJRT_Error*"


@dataclass(frozen=True)
class Abi:
    """One version of the PJRT C API."""

    major: int
    minor: int
    jaxlib: str
    functions: tuple[Function, ...]
    structs: dict[str, Struct]
    enums: dict[str, dict[str, int]]
    typedefs: dict[str, str]


def load(path: Path) -> Abi:
    """Read an ABI description and add the `PJRT_Api` table itself, which follows from its functions."""
    data = json.loads(path.read_text())
    structs = {name: _struct(name, entry) for name, entry in data["structs"].items()}
    functions = tuple(Function(entry["name"], entry["args"], entry["returns"]) for entry in data["functions"])
    structs[API_STRUCT] = _api_struct(functions, structs["PJRT_Api_Version"].size)
    version = data["pjrt_api_version"]
    return Abi(version["major"], version["minor"], data["jaxlib"], functions, structs, data["enums"], data["typedefs"])


def _struct(name: str, entry: dict[str, Any]) -> Struct:
    return Struct(name, entry["size"], entry.get("struct_size"), tuple(_field(field) for field in entry["fields"]))


def _field(entry: dict[str, Any]) -> Field:
    members = tuple(_field(member) for member in entry.get("fields", ()))
    return Field(entry["name"], entry["type"], entry["offset"], entry.get("out", False), members)


def _api_struct(functions: tuple[Function, ...], version_size: int) -> Struct:
    header = (
        Field("struct_size", "size_t", 0, False),
        Field("extension_start", "PJRT_Extension_Base*", 8, False),
        Field("pjrt_api_version", "PJRT_Api_Version", 16, False),
    )
    start = 16 + version_size
    entries = tuple(
        Field(function.name, f"{function.returns} (*)({function.arguments}*)", start + 8 * position, False)
        for position, function in enumerate(functions)
    )
    size = start + 8 * len(functions)
    return Struct(API_STRUCT, size, size, header + entries)


def structs_in_order(abi: Abi) -> Iterator[Struct]:
    """The structs, each after those that it holds by value."""
    done: set[str] = set()

    def visit(struct: Struct) -> Iterator[Struct]:
        if struct.name in done:
            return
        done.add(struct.name)
        for field in _flat(struct.fields):
            if field.type in abi.structs:
                yield from visit(abi.structs[field.type])
        yield struct

    for struct in abi.structs.values():
        yield from visit(struct)


def _flat(fields: tuple[Field, ...]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from _flat(field.members)
