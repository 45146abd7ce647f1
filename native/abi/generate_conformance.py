"""Write the conformance kit's description of the C API: `python generate_conformance.py`. A test compares it.

It contains the functions of the PJRT table and of the extensions, and the structs with the offset of each field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pjrt_abi
from pjrt_abi import EXTENSION_TYPE, NUMBERS, Abi, Field, Struct, extensions

DATA = Path(__file__).with_name("pjrt_c_api.json")
HISTORY = Path(__file__).with_name("pjrt_c_api_history.json")
TARGET = Path(__file__).parents[2] / "indexer" / "framedex" / "plugins" / "conformance" / "api.json"
ENUMS = (EXTENSION_TYPE, "PJRT_Buffer_Type", "PJRT_Error_Code", "PJRT_HostBufferSemantics", "PJRT_NamedValue_Type")


def main() -> None:
    """Write the description into the package."""
    TARGET.write_text(description())


def description() -> str:
    """The description as JSON, one function, extension, struct or enumeration per line."""
    abi = pjrt_abi.load(DATA, HISTORY)
    since = json.loads(HISTORY.read_text())["functions_since"]
    functions = [
        [each.name, each.arguments, each.returns_error, since.get(each.name, abi.minor)] for each in abi.functions
    ]
    parts = [
        '"about": "Made by native/abi/generate_conformance.py; do not edit."',
        f'"version": [{abi.major}, {abi.minor}]',
        f'"functions": [\n{_lines(json.dumps(each) for each in functions)}\n]',
        f'"extensions": {{\n{_lines(_extensions(abi))}\n}}',
        f'"structs": {{\n{_lines(_struct(abi, struct) for struct in abi.structs.values())}\n}}',
        f'"enums": {{\n{_lines(_enum(abi, name) for name in ENUMS)}\n}}',
    ]
    return "{" + ",\n".join(parts) + "}\n"


def _lines(texts: Iterator[str]) -> str:
    return ",\n".join(texts)


def _extensions(abi: Abi) -> Iterator[str]:
    for table in extensions(abi):
        name = (table.type or "").removeprefix(f"{EXTENSION_TYPE}_")
        number = abi.enums[EXTENSION_TYPE][table.type or ""]
        rows = [[each.name, each.member, each.arguments, each.returns_error] for each in table.functions]
        yield f"{json.dumps(name)}: {json.dumps([number, table.struct.name, rows])}"


def _struct(abi: Abi, struct: Struct) -> str:
    rows = [row for field in struct.fields for row in _field_rows(abi, field)]
    return f"{json.dumps(struct.name)}: {json.dumps([struct.size, struct.struct_size, rows])}"


def _field_rows(abi: Abi, field: Field) -> Iterator[list[Any]]:
    """The name, type, offset, output mark and version of a field; those of its members if it is a union."""
    if field.name is None:
        for member in field.members:
            yield [member.name, _type(abi, member.type), field.offset + member.offset, False, field.since]
    else:
        yield [field.name, _type(abi, field.type), field.offset, field.is_output, field.since]


def _type(abi: Abi, c_type: str) -> str:
    """A type letter, the name of a struct, or P for pointers, functions and arrays."""
    if c_type in abi.enums:
        return "i"
    return c_type if c_type in abi.structs else NUMBERS.get(c_type, "P")


def _enum(abi: Abi, name: str) -> str:
    prefix = {"PJRT_NamedValue_Type": "PJRT_NamedValue_k"}.get(name, f"{name}_")
    return (
        f"{json.dumps(name)}: {json.dumps({key.removeprefix(prefix): value for key, value in abi.enums[name].items()})}"
    )


if __name__ == "__main__":
    main()
