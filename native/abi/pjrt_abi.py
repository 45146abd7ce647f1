"""The PJRT C ABI as data.

Reads the JSON description of one version of the PJRT C API (functions, argument structs, enums, typedefs), and the
history of its fields. The `about` entry of the file explains its units. Offsets and sizes are bytes on LP64.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

API_STRUCT = "PJRT_Api"
EXTENSION_BASE = "PJRT_Extension_Base"
EXTENSION_TYPE = "PJRT_Extension_Type"
# The number types of the headers, as type letters of Python's module `struct`, on LP64.
NUMBERS = {
    "size_t": "Q", "uint64_t": "Q", "uintptr_t": "Q", "uint32_t": "I", "int64_t": "q", "intptr_t": "q", "int32_t": "i",
    "int": "i", "bool": "?", "float": "f", "double": "d",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A struct member. `name` is None for an anonymous union with the members `members`.

    `since` is the minor version that added it, or 0 if it is older than the history. `is_input`: an output that the
    caller sets, too. `parameters` are the names of a function's parameters, if the member is one and they have names.
    """

    name: str | None
    type: str
    offset: int
    is_output: bool
    members: tuple[Field, ...] = ()
    since: int = 0
    is_input: bool = False
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Struct:
    """A struct. Callers of this version write `struct_size` into it; None if it has no such member."""

    name: str
    size: int
    struct_size: int | None
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The member with this name, or None."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True)
class Function:
    """A function in a table. It takes a pointer to its argument struct.

    `member` is its member name in the struct `table`. In `PJRT_Api` it equals the function's name; in extensions it is
    often shorter.
    """

    name: str
    arguments: str
    returns: str
    table: str
    member: str

    @property
    def returns_error(self) -> bool:
        """Whether it returns an error. Other functions return void."""
        return self.returns != "void"


@dataclass(frozen=True)
class Table:
    """A struct of functions: an extension, or a table that an extension points to.

    `type` is the extension's enumerator, or None for other tables. `inner` are the members that point to tables.
    """

    struct: Struct
    type: str | None
    functions: tuple[Function, ...]
    inner: tuple[Field, ...]


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


def load(path: Path, history: Path | None = None) -> Abi:
    """Read an ABI description, and add the `PJRT_Api` struct that follows from its functions.

    `history` gives the version that added each field. Without it, every field counts as original.
    """
    data = json.loads(path.read_text())
    since: dict[str, dict[str, int]] = json.loads(history.read_text())["fields_since"] if history else {}
    structs = {name: _struct(name, entry, since.get(name, {})) for name, entry in data["structs"].items()}
    functions = tuple(
        Function(entry["name"], entry["args"], entry["returns"], API_STRUCT, entry["name"])
        for entry in data["functions"]
    )
    structs[API_STRUCT] = _api_struct(functions, structs["PJRT_Api_Version"].size)
    version = data["pjrt_api_version"]
    return Abi(version["major"], version["minor"], data["jaxlib"], functions, structs, data["enums"], data["typedefs"])


def _struct(name: str, entry: dict[str, Any], since: Mapping[str, int]) -> Struct:
    fields = tuple(_field(field, since) for field in entry["fields"])
    return Struct(name, entry["size"], entry.get("struct_size"), fields)


def _field(entry: dict[str, Any], since: Mapping[str, int]) -> Field:
    name: str | None = entry["name"]
    members = tuple(_field(member, {}) for member in entry.get("fields", ()))
    first = since.get(name, 0) if name else 0
    parameters = tuple(entry.get("parameters", ()))
    return Field(
        name,
        entry["type"],
        entry["offset"],
        entry.get("out", False),
        members,
        first,
        entry.get("in", False),
        parameters,
    )


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


def extensions(abi: Abi) -> Iterator[Table]:
    """The described extensions with their own enumerator."""
    for struct in abi.structs.values():
        enumerator = _enumerator(abi, struct)
        if enumerator:
            yield _table(abi, struct, enumerator)


def inner_tables(abi: Abi) -> Iterator[Table]:
    """The function tables that extensions point to, such as the profiler's."""
    for extension in extensions(abi):
        yield from (_table(abi, abi.structs[_pointee(field.type)], None) for field in extension.inner)


def _enumerator(abi: Abi, struct: Struct) -> str | None:
    if not struct.fields or struct.fields[0].type != EXTENSION_BASE:
        return None
    names = {_plain(member.removeprefix(EXTENSION_TYPE)): member for member in abi.enums[EXTENSION_TYPE]}
    return names.get(_plain(struct.name.removeprefix("PJRT_").removesuffix("_Extension")))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _table(abi: Abi, struct: Struct, enumerator: str | None) -> Table:
    functions = tuple(function for field in struct.fields if (function := _function(abi, struct, field)))
    inner = tuple(field for field in struct.fields if _points_to_functions(abi, field))
    return Table(struct, enumerator, functions, inner)


def _function(abi: Abi, struct: Struct, field: Field) -> Function | None:
    """The function that a member points to; None if it is not a function of one argument struct."""
    named = _pointee(field.type)
    signature = re.fullmatch(r"(\S+) ?(?:\(\*\))? ?\((\w+)\*\)", abi.typedefs.get(named, field.type))
    arguments = abi.typedefs.get(signature[2], signature[2]) if signature else ""
    if not signature or arguments not in abi.structs or not field.name:
        return None
    name = named if named in abi.typedefs else f"{struct.name.removesuffix('_Extension')}_{field.name}"
    return Function(name, arguments, signature[1], struct.name, field.name)


def _points_to_functions(abi: Abi, field: Field) -> bool:
    target = abi.structs.get(_pointee(field.type)) if "*" in field.type else None
    return target is not None and any(_function(abi, target, member) for member in target.fields)


def _pointee(c_type: str) -> str:
    return c_type.removeprefix("const ").rstrip("*")
