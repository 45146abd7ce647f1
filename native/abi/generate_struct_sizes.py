"""Write the sizes of callers' structs: `python generate_struct_sizes.py`. A test compares them with the data.

A caller writes the size of its struct into `struct_size`. The table has, for each function, the size in the first known
version and in the described one. `options.struct_size` is that of a struct in the field `options`.
"""

from __future__ import annotations

import json
from pathlib import Path
from struct import calcsize

import pjrt_abi
from generate_objects import DATA, argument_structs
from pjrt_abi import NUMBERS, Abi, Field, Struct

HISTORY = Path(__file__).with_name("pjrt_c_api_history.json")
TARGET = Path(__file__).parents[2] / "indexer" / "framedex" / "plugins" / "validation" / "struct_sizes.json"
_SIZE = "struct_size"
# XLA's own client leaves the size of a layout uninitialised (`ConvertToBufferMemoryLayoutData`).
_UNSET = "PJRT_Buffer_MemoryLayout"


def main() -> None:
    """Write the table to the indexer's folder."""
    TARGET.write_text(table(pjrt_abi.load(DATA, HISTORY)))


def table(abi: Abi) -> str:
    """The table as JSON, one function per line."""
    lines = [
        f"    {json.dumps(name)}: {json.dumps(caller_sizes(abi, struct))}"
        for name, struct in argument_structs(abi).items()
    ]
    about = "Made by native/abi/generate_struct_sizes.py; do not edit. Sizes: [first known version, described version]."
    version = f"{abi.major}.{abi.minor}"
    return (
        f'{{\n  "about": "{about}",\n  "version": "{version}",\n  "functions": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    )


def caller_sizes(abi: Abi, struct: Struct) -> dict[str, list[int]]:
    """The sizes of an argument struct and of the structs in its fields, by the name of the recorded value."""
    sizes = {_SIZE: _sizes(abi, struct)}
    for field in struct.fields:
        nested = abi.structs.get(field.type.replace("const ", "").removesuffix("*"))
        is_judged = field.name != "extension_start" and not field.is_output
        if is_judged and nested is not None and nested.name != _UNSET and nested.field(_SIZE):
            sizes[f"{field.name}.{_SIZE}"] = _sizes(abi, nested)
    return sizes


def _sizes(abi: Abi, struct: Struct) -> list[int]:
    """The struct's size in the first version with it, and in this one."""
    first = min(field.since for field in struct.fields)
    oldest = max(_end(abi, field) for field in struct.fields if field.since == first)
    described = struct.struct_size or struct.size
    return [min(oldest, described), described]


def _end(abi: Abi, field: Field) -> int:
    if field.type in abi.structs:
        return field.offset + abi.structs[field.type].size
    if field.type in abi.enums:
        return field.offset + 4
    return field.offset + calcsize(NUMBERS.get(field.type, "P"))


if __name__ == "__main__":
    main()
