"""Which fields of an argument struct are recorded, and how: decided from their types and the C API's own conventions.

The conventions: `const char* x` goes with `size_t x_size`; `const T* xs` with `size_t num_xs`; a pointer to a described
struct is followed once; a pointer to an opaque one is an object's identity; `PJRT_Buffer_Type` with dims gives bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pjrt_abi import Abi, Field, Struct

UNSIGNED = {"size_t", "uint64_t", "uint32_t", "uintptr_t"}
SIGNED = {"int", "int64_t", "int32_t", "intptr_t"}
REAL = {"float", "double"}
LISTED = {"int64_t", "size_t", "int", "int32_t"}
BOOKKEEPING = {"struct_size", "extension_start", "vtable"}


@dataclass(frozen=True)
class Value:
    """A recorded value: its `name` (dotted inside a nested struct), and the C++ statement that writes it.

    `{writer}` and `{index}` in `statement` stand for the argument writer and the value's index in its function;
    `guard` is a condition under which the statement may run.
    """

    name: str
    statement: str
    guard: str
    is_output: bool


def values(abi: Abi, struct: Struct) -> list[Value]:
    """The recorded values of an argument struct, in the order of its fields. `args` names the struct in C++."""
    return list(_values(abi, struct, "args", "", nested=False))


def _values(abi: Abi, struct: Struct, pointer: str, prefix: str, *, nested: bool) -> Iterator[Value]:
    counts = {_count_name(struct, field) for field in struct.fields if _is_counted(abi, struct, field)}
    for field in struct.fields:
        if field.name is None or field.name in BOOKKEEPING or field.name in counts:
            continue
        guard = f"has({pointer}, &{struct.name}::{field.name})" if struct.field("struct_size") else "true"
        if nested and not pointer.startswith("(&"):
            guard = f"{pointer} != nullptr && {guard}"
        access, name = f"{pointer}->{field.name}", prefix + field.name
        target = field.type.removeprefix("const ").rstrip("*")
        if field.type.count("*") <= 1 and target in abi.structs and not nested and _is_followed(abi, target):
            if "*" not in field.type:
                access = f"(&{access})"
            for value in _values(abi, abi.structs[target], access, f"{name}.", nested=True):
                yield Value(value.name, value.statement, f"{guard} && {value.guard}", field.is_output)
            continue
        statement = _statement(abi, struct, field, pointer)
        if statement:
            yield Value(name, statement, guard, field.is_output)
    if struct.field("dims") and (kind := _buffer_type(struct)):
        size = f"{{writer}}.integer({{index}}, dense_bytes({pointer}->{kind}, {pointer}->dims, {pointer}->num_dims));"
        yield Value(f"{prefix}bytes", size, f"{pointer} != nullptr" if nested else "true", False)


def _is_followed(abi: Abi, target: str) -> bool:
    """A described struct that says something by value; PJRT_NamedValue lists have a writer of their own."""
    fields = [field for field in abi.structs[target].fields if field.name not in BOOKKEEPING]
    return bool(fields) and target != "PJRT_NamedValue"


def _buffer_type(struct: Struct) -> str | None:
    return next((field.name for field in struct.fields if field.type == "PJRT_Buffer_Type"), None)


def _count_name(struct: Struct, field: Field) -> str | None:
    """The sibling that holds how many elements (or bytes) a pointer field points at, None if there is none."""
    if field.name is None or "*" not in field.type:
        return None
    head, _, last = field.name.rpartition("_")
    for candidate in (f"{field.name}_size", f"num_{field.name}", f"{head}_num_{last}", f"num_{last}"):
        sibling = struct.field(candidate)
        if sibling and sibling.type == "size_t":
            return candidate
    return None


def _is_counted(abi: Abi, struct: Struct, field: Field) -> bool:
    """Whether what is recorded of a field says its count as well; the size of plain memory is a value of its own."""
    count = _count_name(struct, field)
    return count is not None and f"args->{count}" in (_statement(abi, struct, field, "args") or "")


def _statement(abi: Abi, struct: Struct, field: Field, pointer: str) -> str | None:
    """The C++ statement that records one field, None where there is nothing to say (callbacks, deleters)."""
    access = f"{pointer}->{field.name}"
    scalar = _scalar(abi, field.type, access)
    if scalar:
        return scalar
    if "(" in field.type or field.type in _function_types(abi):
        return None
    count = _count_name(struct, field)
    return _pointer(abi, field.type, access, f"{pointer}->{count}" if count else None)


def _scalar(abi: Abi, c_type: str, access: str) -> str | None:
    if c_type == "bool":
        return f"{{writer}}.boolean({{index}}, {access});"
    if c_type in UNSIGNED:
        return f"{{writer}}.integer({{index}}, static_cast<int64_t>({access}));"
    if c_type in SIGNED:
        return f"{{writer}}.integer({{index}}, {access});"
    if c_type in REAL:
        return f"{{writer}}.real({{index}}, {access});"
    if c_type in abi.enums:
        return f"enumeration({{writer}}, {{index}}, {access});"
    return None


def _pointer(abi: Abi, c_type: str, access: str, count: str | None) -> str | None:
    pointee = re.sub(r"\bconst\b", "", c_type).replace(" ", "")
    if pointee == "char*":
        length = count or f"text_length({access})"
        return f"{{writer}}.text_or_size({{index}}, {access}, {length});"
    if pointee == "PJRT_NamedValue*" and count:
        return f"named_values({{writer}}, {{index}}, {access}, {count});"
    if count and pointee.removesuffix("*") in LISTED:
        return f"{{writer}}.integers({{index}}, {access}, {count});"
    if count and pointee.removesuffix("*") in abi.enums:
        return f"{{writer}}.integers({{index}}, {access}, {count});"
    if count and pointee.count("*") == 2 and pointee != "char**":
        return f"{{writer}}.addresses({{index}}, reinterpret_cast<const void* const*>({access}), {count});"
    if count and pointee.removesuffix("*") in abi.structs:
        return f"{{writer}}.integer({{index}}, static_cast<int64_t>({count}));"
    return f"{{writer}}.address({{index}}, {access});"


def _function_types(abi: Abi) -> set[str]:
    return {name for name, target in abi.typedefs.items() if name != target}
