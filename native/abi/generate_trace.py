"""Write the traced PJRT table: one wrapper per function, with its arguments decoded before and after the call."""

from __future__ import annotations

from collections.abc import Iterator

from decoding import Value, values
from pjrt_abi import Abi, Function

NOTICE = "// Generated from native/abi; do not edit."


def enumerators(abi: Abi) -> str:
    """`enumerator(value)` for every enum: its name without the enum's prefix, or nullptr if it is unknown."""
    lines = [NOTICE, "#pragma once", '#include "pjrt_c_api.h"', "namespace framedex::pjrt {"]
    for enum, members in abi.enums.items():
        lines.append(f"inline const char* enumerator({enum} value) {{")
        lines.append("  switch (static_cast<int>(value)) {")
        for value, member in {number: name for name, number in reversed(members.items())}.items():
            lines.append(f'    case {value}: return "{_short(enum, member)}";')
        lines.append("    default: return nullptr;")
        lines.append("  }\n}")
    return "\n".join([*lines, "}  // namespace framedex::pjrt", ""])


def traced_table(abi: Abi) -> str:
    """The wrappers, the description of their recorded values, and `trace(plugin)`, which puts them around a table."""
    lines = [
        NOTICE,
        '#include "pjrt/traced_call.h"',
        "using namespace framedex::pjrt;",
        "namespace {",
        "const PJRT_Api* plugin = nullptr;",
        "uint32_t first_function = 0;",
    ]
    for function in abi.functions:
        lines += _decoders(abi, function)
    lines.append("}  // namespace")
    lines.append('extern "C" {')
    for index, function in enumerate(abi.functions):
        lines += _wrapper(index, function)
    lines.append("}")
    lines += _table(abi)
    return "\n".join(lines) + "\n"


def unimplemented_table(abi: Abi) -> str:
    """A table whose every entry answers UNIMPLEMENTED with the function's name; the mock overlays what it has."""
    lines = [NOTICE, '#include "pjrt/mock/unimplemented.h"', "namespace framedex::mock {", "PJRT_Api unimplemented() {"]
    lines.append("  PJRT_Api table{};")
    for function in abi.functions:
        answer = f'unimplemented("{function.name}")' if function.returns_error else ""
        lines.append(
            f"  table.{function.name} = []({function.arguments}*) -> {function.returns} {{ return {answer}; }};"
        )
    return "\n".join([*lines, "  return table;", "}", "}  // namespace framedex::mock", ""])


def _decoders(abi: Abi, function: Function) -> Iterator[str]:
    recorded = values(abi, abi.structs[function.arguments])
    names = ", ".join(f'"{value.name}"' for value in recorded) or "nullptr"
    yield f"const char* const names_{function.name}[] = {{{names}}};"
    yield from _decoder(f"inputs_{function.name}", function, recorded, is_output=False)
    yield from _decoder(f"outputs_{function.name}", function, recorded, is_output=True)


def _decoder(name: str, function: Function, recorded: list[Value], *, is_output: bool) -> Iterator[str]:
    yield f"[[maybe_unused]] void {name}([[maybe_unused]] const {function.arguments}* args,"
    yield "    [[maybe_unused]] framedex::recorder::ArgumentWriter& writer) {"
    for index, value in enumerate(recorded):
        if value.is_output == is_output:
            statement = value.statement.format(writer="writer", index=index)
            yield f"  if ({value.guard}) {statement}"
    yield "}"


def _wrapper(index: int, function: Function) -> Iterator[str]:
    name = function.name
    yield f"{function.returns} {name}({function.arguments}* args) {{"
    yield f"  framedex::recorder::Call call(first_function + {index});"
    yield "  if (call.is_recording()) {"
    yield f"    inputs_{name}(args, call.arguments());"
    yield "    call.enter();"
    yield "  }"
    if function.returns_error:
        yield f"  PJRT_Error* error = plugin->{name}(args);"
        yield "  if (call.is_recording()) {"
        yield f"    if (error == nullptr) outputs_{name}(args, call.arguments());"
        yield "    leave(call, plugin, error);"
        yield "  }"
        yield "  return error;"
    else:
        yield f"  plugin->{name}(args);"
        yield "  if (call.is_recording()) {"
        yield f"    outputs_{name}(args, call.arguments());"
        yield "    call.leave(0, {});"
        yield "  }"
    yield "}"


def _table(abi: Abi) -> Iterator[str]:
    yield "namespace framedex::pjrt {"
    yield "const PJRT_Api* trace(const PJRT_Api* inner) {"
    yield "  static const recorder::Function functions[] = {"
    for function in abi.functions:
        count = len(values(abi, abi.structs[function.arguments]))
        yield f'      {{"pjrt", "{function.name}", names_{function.name}, {count}}},'
    yield "  };"
    yield "  static PJRT_Api table;"
    yield "  first_function = recorder::register_functions(functions, sizeof(functions) / sizeof(functions[0]));"
    yield "  plugin = inner;"
    yield "  copy_header(*inner, table);"
    for function in abi.functions:
        yield f"  if (has(inner, &PJRT_Api::{function.name})) table.{function.name} = ::{function.name};"
    yield "  return &table;"
    yield "}"
    yield "}  // namespace framedex::pjrt"


def _short(enum: str, member: str) -> str:
    """`PJRT_Buffer_Type_F32` -> `F32`; `PJRT_HostBufferSemantics_kMutableZeroCopy` -> `MutableZeroCopy`."""
    base = enum.removesuffix("_Type") if not member.startswith(enum) else enum
    short = member.removeprefix(base).lstrip("_")
    return short[1:] if len(short) > 1 and short[0] == "k" and short[1].isupper() else short
