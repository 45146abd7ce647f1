"""Write the PJRT C API header from its description: types, table, and a compile-time check of every offset."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pjrt_abi import Abi, Field, Struct
from structs import structs_in_order


def header(abi: Abi) -> str:
    """The text of `pjrt_c_api.h`."""
    return "\n".join(
        [
            f"// PJRT C API {abi.major}.{abi.minor} (jaxlib {abi.jaxlib}). Generated from native/abi; do not edit.",
            "#pragma once",
            "#include <stdbool.h>",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "#ifdef __cplusplus",
            'extern "C" {',
            # A fixed underlying type makes values from newer callers well-defined.
            "#define FRAMEDEX_ENUM(name) enum name : int",
            "#else",
            "#define FRAMEDEX_ENUM(name) enum name",
            "#endif",
            f"#define PJRT_API_MAJOR {abi.major}",
            f"#define PJRT_API_MINOR {abi.minor}",
            *_enums(abi),
            *_forward_declarations(abi),
            *_typedefs(abi),
            *(line for struct in structs_in_order(abi.structs) for line in _struct(struct)),
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
        ]
    )


def layout_check(abi: Abi) -> str:
    """A C++ file that does not compile unless every struct has the size and offsets of the description."""
    lines = ['#include "pjrt_c_api.h"', "// NOLINTBEGIN"]
    for struct in abi.structs.values():
        lines.append(f'static_assert(sizeof({struct.name}) == {struct.size}, "size of {struct.name}");')
        for name, offset in _offsets(struct.fields, 0):
            lines.append(f'static_assert(offsetof({struct.name}, {name}) == {offset}, "{struct.name}.{name}");')
    return "\n".join(lines) + "\n"


def _offsets(fields: tuple[Field, ...], base: int) -> Iterator[tuple[str, int]]:
    for field in fields:
        if field.name is None:
            yield from _offsets(field.members, base + field.offset)
        else:
            yield field.name, base + field.offset


def _enums(abi: Abi) -> Iterator[str]:
    for name, values in abi.enums.items():
        members = ", ".join(f"{member} = {value}" for member, value in values.items())
        yield f"typedef FRAMEDEX_ENUM({name}) {{ {members} }} {name};"


def _forward_declarations(abi: Abi) -> Iterator[str]:
    """Forward declarations of all structs, including opaque ones that appear only behind a pointer."""
    known = set(abi.structs) | set(abi.enums) | _function_typedefs(abi)
    opaque = {name for name, target in abi.typedefs.items() if name == target} - known
    mentioned = {word for struct in abi.structs.values() for field in struct.fields for word in _api_words(field.type)}
    mentioned |= {word for target in abi.typedefs.values() for word in _api_words(target)}
    names = sorted(set(abi.structs) | opaque | (mentioned - known - set(abi.typedefs)))
    yield from (f"typedef struct {name} {name};" for name in names)


def _function_typedefs(abi: Abi) -> set[str]:
    return {name for name, target in abi.typedefs.items() if name != target}


def _api_words(text: str) -> Iterator[str]:
    yield from re.findall(r"\b[A-Z]+_\w+", text)


def _typedefs(abi: Abi) -> Iterator[str]:
    for name, target in abi.typedefs.items():
        if name == target:
            continue
        if "(*)" in target:
            yield f"typedef {declare(target, name)};"
        elif "(" in target:
            result, arguments = target.split(" (", 1)
            yield f"typedef {result} {name}({arguments};"
        else:
            yield f"typedef {target} {name};"


def _struct(struct: Struct) -> Iterator[str]:
    yield f"struct {struct.name} {{"
    yield from _members(struct.fields)
    yield "};"
    if struct.struct_size is not None:
        yield f"#define {struct.name}_STRUCT_SIZE {struct.struct_size}"


def _members(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        if field.name is None:
            yield "  union {"
            yield from _members(field.members)
            yield "  };"
        else:
            yield f"  {declare(field.type, field.name)};"


def declare(c_type: str, name: str) -> str:
    """Declare `name` with a C type. In a pointer to a function, the name goes inside the parentheses."""
    if "(*)" in c_type:
        return c_type.replace("(*)", f"(*{name})", 1)
    array = re.fullmatch(r"(.*?)(\[\d+\])", c_type)
    return f"{array[1]} {name}{array[2]}" if array else f"{c_type} {name}"
