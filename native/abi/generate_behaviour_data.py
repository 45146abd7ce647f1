"""Write the description of the PJRT table for behaviours: `python generate_behaviour_data.py [OUTPUT]`.

The JSON contains the functions, their argument structs with the decoding of each field, and the enumerators. It is
committed as `native/framedex_native/behaviour/functions.json`. A test compares it with the ABI's data.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import decoding
import pjrt_abi
from generate_trace import short_name
from pjrt_abi import NUMBERS, Abi, Field, Struct

HERE = Path(__file__).parent
ABI = HERE / "pjrt_c_api.json"
DATA = HERE.parent / "framedex_native" / "behaviour" / "functions.json"
# Text fields of the API that hold binary data.
_BYTES = re.compile(r"code|compile_options|.*serialized_.*")
NAMED_VALUE = "PJRT_NamedValue"
COUNTED = ("text", "bytes", "numbers", "enums", "handles", "structs", "struct_pointers", "named_values")
DIMENSIONS = ("dims", "shape_dims")
# Outputs whose initial value matters too: a destination, and its capacity.
ALSO_INPUTS = {("PJRT_Buffer_ToHostBuffer_Args", "dst"), ("PJRT_Buffer_ToHostBuffer_Args", "dst_size")}


def main(output: Path = DATA) -> None:
    """Write the file."""
    output.write_text(behaviour_data(pjrt_abi.load(ABI)))


def behaviour_data(abi: Abi) -> str:
    """The file's text: a line for each function, struct and enumeration."""
    functions = [[function.name, function.arguments, function.returns_error] for function in abi.functions]
    structs = {name: _struct(abi, abi.structs[name]) for name in _reachable(abi)}
    used = {field["of"] for struct in structs.values() for field in struct["fields"]} & abi.enums.keys()
    enums = {
        name: {short_name(name, member): value for member, value in abi.enums[name].items()} for name in sorted(used)
    }
    parts = [
        f'"functions": [\n{_lines(json.dumps(each) for each in functions)}\n]',
        f'"structs": {{\n{_lines(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in structs.items())}\n}}',
        f'"enums": {{\n{_lines(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in enums.items())}\n}}',
    ]
    return "{" + ",\n".join(parts) + "}\n"


def _lines(texts: Iterator[str]) -> str:
    return ",\n".join(texts)


def _reachable(abi: Abi) -> list[str]:
    """The argument structs of the functions, and all structs reachable from them."""
    found = dict.fromkeys(function.arguments for function in abi.functions)
    waiting = list(found)
    while waiting:
        for field in _flat(abi.structs[waiting.pop()].fields):
            target = _pointee(field.type)
            if target in abi.structs and _is_described(abi, target) and target not in found:
                found[target] = None
                waiting.append(target)
    return list(found)


def _flat(fields: tuple[Field, ...]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from field.members


def _struct(abi: Abi, struct: Struct) -> dict[str, Any]:
    fields = [
        entry
        for field in struct.fields
        if field.name not in decoding.BOOKKEEPING
        for entry in (_union(abi, struct, field) if field.name is None else [_field(abi, struct, field)])
    ]
    entry: dict[str, Any] = {"size": struct.size, "struct_size": struct.struct_size, "fields": fields}
    dimensions = next((name for name in DIMENSIONS if struct.field(name)), None)
    element = next((field.name for field in struct.fields if field.type == "PJRT_Buffer_Type"), None)
    if dimensions and element:
        entry["array"] = [element, dimensions]
    return entry


def _union(abi: Abi, struct: Struct, union: Field) -> Iterator[dict[str, Any]]:
    """The members of a union. If `type` has an enumerator of a member's name, that enumerator selects the member."""
    kind = struct.field("type")
    enumerators = {short_name(kind.type, name) for name in abi.enums[kind.type]} if kind else set()
    for member in union.members:
        placed = Field(member.name, member.type, union.offset + member.offset, member.is_output)
        name = (member.name or "").capitalize()
        yield _field(abi, struct, placed) | ({"when": name} if name in enumerators else {})


def _field(abi: Abi, struct: Struct, field: Field) -> dict[str, Any]:
    """The JSON entry of a field.

    `kind` selects the decoder. `of` names the number type, enumeration, struct or object type. `count` and `sizes` name
    the fields with its length and with the lengths of its elements.
    """
    kind, of = _kind(abi, struct, field)
    entry: dict[str, Any] = {"name": field.name, "offset": field.offset, "kind": kind, "of": of}
    if kind in ("texts", "number_lists"):
        entry |= {"count": decoding.list_of_lists_count(struct, field), "sizes": decoding.sizes_name(struct, field)}
    elif kind == "rows":
        entry["count"] = [each.removeprefix("args->") for each in decoding.ROWS[struct.name, field.name or ""]]
    elif kind in COUNTED:
        entry["count"] = decoding.count_name(struct, field)
    if decoding.is_output(abi, struct, field):
        entry["out"] = True
        if (struct.name, field.name) in ALSO_INPUTS:
            entry["in"] = True
        if _is_filled(struct, field, entry):
            entry["filled"] = True
    return entry


def _is_filled(struct: Struct, field: Field, entry: dict[str, Any]) -> bool:
    """Whether the caller allocates the memory of an output, so that its length is an input."""
    count = struct.field(entry["count"]) if isinstance(entry.get("count"), str) else None
    if entry["kind"] == "rows":
        return True
    return (
        count is not None and not count.is_output and not field.type.startswith("const") and "const*" not in field.type
    )


def _kind(abi: Abi, struct: Struct, field: Field) -> tuple[str, str]:
    target, stars = _pointee(field.type), field.type.count("*")
    is_counted = decoding.count_name(struct, field) is not None
    if "(" in abi.typedefs.get(target, field.type):
        return "address", ""
    if (struct.name, field.name) in decoding.ROWS:
        return "rows", target
    if stars == 0:
        if field.type in NUMBERS:
            return "number", NUMBERS[field.type]
        return ("enum" if field.type in abi.enums else "struct"), field.type
    if decoding.sizes_name(struct, field) and decoding.list_of_lists_count(struct, field):
        return ("texts", "") if target == "char" else ("number_lists", NUMBERS[target])
    if target == "char" and stars == 1:
        return ("bytes" if _BYTES.fullmatch(field.name or "") else "text"), ""
    if is_counted and (target == NAMED_VALUE or target in abi.enums):
        return ("named_values" if target == NAMED_VALUE else "enums"), target
    if target in NUMBERS:
        return ("numbers" if is_counted else "address"), NUMBERS[target]
    if target in abi.structs and _is_described(abi, target):
        if is_counted:
            return ("structs" if stars == 1 else "struct_pointers"), target
        return ("struct_pointer" if stars == 1 else "address"), target
    if target == "void" or (stars > 1 and not is_counted):
        return "address", ""
    return ("handles" if stars == 2 else "handle"), target


def _is_described(abi: Abi, name: str) -> bool:
    return any(field.name not in decoding.BOOKKEEPING for field in abi.structs[name].fields)


def _pointee(c_type: str) -> str:
    return c_type.replace("const", "").replace("*", "").replace(" ", "")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
