"""Write the header of the legacy TPU C API from its description.

It contains the types, the table of functions, and a compile-time check of every offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from structs import structs_in_order
from tpu_abi import Field, Function, Struct, TpuAbi

NOTICE = "// The TPU C API as jaxlib {jaxlib} looks it up. Generated from native/abi; do not edit."


def header(abi: TpuAbi) -> str:
    """The text of `tpu_c_api.h`. `TpuApi` has an entry for every function."""
    lines = [
        NOTICE.format(jaxlib=abi.jaxlib),
        "#pragma once",
        "#include <cstddef>",
        "#include <cstdint>",
        "#include <optional>",
        *_enums(abi),
        *(f"struct {name};" for name in sorted({*abi.opaque, *abi.structs})),
        *_typedefs(abi),
        *(line for struct in structs_in_order(abi.structs) for line in _struct(struct)),
        "struct TpuApi {",
        *(f"  {function.returns} (*{function.name})({parameters(function)});" for function in abi.functions),
        "};",
        *_names(abi),
    ]
    return "\n".join([*lines, ""])


def layout_check(abi: TpuAbi) -> str:
    """A C++ file that does not compile unless every struct has the size and offsets of the description."""
    lines = ['#include "tpu_c_api.h"']
    for struct in abi.structs.values():
        lines.append(f'static_assert(sizeof({struct.name}) == {struct.size}, "size of {struct.name}");')
        for name, offset in _offsets(struct.fields, 0):
            lines.append(f'static_assert(offsetof({struct.name}, {name}) == {offset}, "{struct.name}.{name}");')
    return "\n".join([*lines, ""])


def parameters(function: Function) -> str:
    """The C++ parameter list of a function."""
    return ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters)


def _enums(abi: TpuAbi) -> Iterator[str]:
    for name, members in abi.enums.items():
        yield f"enum {name} {{ {', '.join(f'{member} = {value}' for member, value in members.items())} }};"
    for title, members in abi.values.items():
        enum = "Tpu" + "".join(word.capitalize() if word.islower() else word for word in title.split(" (")[0].split())
        listed = ", ".join(f"{enum}_{member} = {value}" for member, value in members.items())
        yield f"enum {enum} {{ {listed} }};"


def _typedefs(abi: TpuAbi) -> Iterator[str]:
    for name, target in abi.typedefs.items():
        is_function = "(*)" in target
        yield f"typedef {target.replace('(*)', f'(*{name})')};" if is_function else f"typedef {target} {name};"


def _struct(struct: Struct) -> Iterator[str]:
    yield f"struct {struct.name} {{"
    for field in struct.fields:
        if field.name is None:
            yield "  union {"
            yield from (f"    {_declaration(member)};" for member in field.members)
            yield "  };"
        else:
            yield f"  {_declaration(field)};"
    yield "};"


def _declaration(field: Field) -> str:
    """The declaration of a member. Types of TensorFlow become void pointers."""
    c_type, _, extent = re.sub(r"tensorflow::\w+", "void", field.type).partition("[")
    return f"{c_type} {field.name}{'[' + extent if extent else ''}"


def _offsets(fields: tuple[Field, ...], base: int) -> Iterator[tuple[str, int]]:
    for field in fields:
        if field.name is None:
            yield from _offsets(field.members, base + field.offset)
        else:
            yield field.name, base + field.offset


def _names(abi: TpuAbi) -> Iterator[str]:
    """The C++ functions `element_type_name(type)`, with HLO's names, and `enumerator(value)`; nullptr if unknown."""
    yield "inline const char* element_type_name(int type) {"
    yield "  switch (type) {"
    for name, value in abi.values["PrimitiveType"].items():
        yield f'    case {value}: return "{name.lower()}";'
    yield "    default: return nullptr;"
    yield "  }\n}"
    for enum, members in abi.enums.items():
        yield f"inline const char* enumerator({enum} value) {{"
        yield "  switch (static_cast<int>(value)) {"
        yield from (f'    case {value}: return "{name.removeprefix("k")}";' for name, value in members.items())
        yield "    default: return nullptr;"
        yield "  }\n}"
