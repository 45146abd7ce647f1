"""Write the traced PJRT table and its extension tables.

They have one wrapper for each function, which decodes the arguments before and after the call.
"""

from __future__ import annotations

from collections.abc import Iterator

from decoding import Value, values
from pjrt_abi import API_STRUCT, Abi, Function, Table, extensions, inner_tables

NOTICE = "// Generated from native/abi; do not edit."
# Statements to run before a call, recorded or not.
FIRST = {"PJRT_LoadedExecutable_Destroy": "output_counts.forget(args->executable);"}
# The functions that register a callback.
CALLBACKS = {"PJRT_Event_OnReady"}


def enumerators(abi: Abi) -> str:
    """A C++ function `enumerator(value)` for every enum: the name without the enum's prefix, or nullptr if unknown."""
    lines = [NOTICE, "#pragma once", '#include "pjrt_c_api.h"', "namespace framedex::pjrt {"]
    for enum, members in abi.enums.items():
        lines.append(f"inline const char* enumerator({enum} value) {{")
        lines.append("  switch (static_cast<int>(value)) {")
        for value, member in {number: name for name, number in reversed(members.items())}.items():
            lines.append(f'    case {value}: return "{short(enum, member)}";')
        lines.append("    default: return nullptr;")
        lines.append("  }\n}")
    return "\n".join([*lines, "}  // namespace framedex::pjrt", ""])


def traced_table(abi: Abi) -> str:
    """The wrappers, the descriptions of recorded values, and the functions that wrap a table and its extensions."""
    tables = [_api(abi), *extensions(abi), *inner_tables(abi)]
    functions = [function for table in tables for function in table.functions]
    lines = [
        NOTICE,
        '#include "pjrt/compiled_memory.h"',
        '#include "pjrt/extension_chain.h"',
        '#include "pjrt/output_counts.h"',
        '#include "pjrt/traced_call.h"',
        "namespace framedex::pjrt {",
        "namespace {",
        "uint32_t first_function = 0;",
        "int minor_version = 0;",
        "OutputCounts output_counts;",
        *(f"const {table.struct.name}* plugin_{table.struct.name} = nullptr;" for table in tables),
        f"size_t outputs_of(PJRT_LoadedExecutable* executable) {{ return output_counts.of(executable, {_PLUGIN}); }}",
    ]
    for function in functions:
        lines += _decoders(abi, function)
    # These functions have the same names as the API's function types, which are outside of this namespace.
    lines += ["namespace traced {", 'extern "C" {']
    for index, function in enumerate(functions):
        lines += _wrapper(index, function)
    lines += ["}", "}  // namespace traced"]
    for table in tables[1:]:
        lines += _declaration(table)
    for table in tables[1:]:
        lines += _wrapping(table)
    lines.append("}  // namespace")
    lines += _chooser(tables)
    lines += _trace(abi, functions, tables[0])
    return "\n".join([*lines, "}  // namespace framedex::pjrt", ""])


_PLUGIN = f"plugin_{API_STRUCT}"


def _api(abi: Abi) -> Table:
    return Table(abi.structs[API_STRUCT], None, abi.functions, ())


def unimplemented_table(abi: Abi) -> str:
    """A table whose entries return UNIMPLEMENTED with the function's name. The mock overwrites those it implements."""
    lines = [NOTICE, '#include "pjrt/mock/base/unimplemented.h"', "namespace framedex::mock {"]
    lines.append("PJRT_Api unimplemented() {")
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
        if value.is_output == is_output and value.statement:
            statement = value.statement.format(writer="writer", index=index)
            yield f"  if ({value.guard}) {statement}"
    yield "}"


def _wrapper(index: int, function: Function) -> Iterator[str]:
    name, call = function.name, f"plugin_{function.table}->{function.member}(args)"
    yield f"{function.returns} {name}({function.arguments}* args) {{"
    if name in FIRST:
        yield f"  {FIRST[name]}"
    yield f"  recorder::Call call(first_function + {index});"
    yield "  if (call.is_recording()) {"
    yield f"    inputs_{name}(args, call.arguments());"
    yield "    call.enter();"
    yield "  }"
    if function.returns_error:
        source = _PLUGIN if function.returns == "PJRT_Error*" else f"plugin_{function.table}"
        if name in CALLBACKS:
            yield f"  TracedCallback callback(call, args, {_PLUGIN});"
        yield f"  {function.returns} error = {call};"
        if name in CALLBACKS:
            yield "  callback.end(error);"
        yield "  if (call.is_recording()) {"
        yield f"    if (error == nullptr) outputs_{name}(args, call.arguments());"
        yield f"    leave(call, {source}, error);"
        yield "  }"
        yield "  return error;"
    else:
        yield f"  {call};"
        yield "  if (call.is_recording()) {"
        yield f"    outputs_{name}(args, call.arguments());"
        yield "    call.leave(0, {});"
        yield "  }"
    yield "}"


def _declaration(table: Table) -> Iterator[str]:
    yield f"{table.struct.name}* trace_{table.struct.name}(const {table.struct.name}* plugin);"


def _wrapping(table: Table) -> Iterator[str]:
    """The function that creates a table of wrappers for a plug-in's table. Missing functions stay null."""
    name = table.struct.name
    size = "base.struct_size" if table.type else "struct_size"
    yield f"{name}* trace_{name}(const {name}* plugin) {{"
    yield f"  plugin_{name} = plugin;"
    yield f"  {name}* table = copy_of(plugin, plugin->{size});"
    for field in table.inner:
        inner = field.type.rstrip("*")
        yield f"  if (table->{field.name} != nullptr) table->{field.name} = trace_{inner}(table->{field.name});"
    yield from _entries(table)
    yield "  return table;"
    yield "}"


def _entries(table: Table) -> Iterator[str]:
    for function in table.functions:
        yield f"  if (table->{function.member} != nullptr) table->{function.member} = traced::{function.name};"


def _chooser(tables: list[Table]) -> Iterator[str]:
    yield "PJRT_Extension_Base* traced_extension(const PJRT_Extension_Base* plugin) {"
    yield "  switch (static_cast<int>(plugin->type)) {"
    for table in tables:
        if table.type:
            name = table.struct.name
            yield f"    case {table.type}:"
            yield f"      return &trace_{name}(reinterpret_cast<const {name}*>(plugin))->base;"
    yield "    default: return nullptr;"
    yield "  }\n}"


def _trace(abi: Abi, functions: list[Function], api: Table) -> Iterator[str]:
    yield "const PJRT_Api* trace(const PJRT_Api* plugin) {"
    yield "  static const recorder::Function functions[] = {"
    for function in functions:
        count = len(values(abi, abi.structs[function.arguments]))
        yield f'      {{"pjrt", "{function.name}", names_{function.name}, {count}}},'
    yield "  };"
    yield "  first_function = recorder::register_functions(functions, sizeof(functions) / sizeof(functions[0]));"
    yield f"  {_PLUGIN} = plugin;"
    yield "  minor_version = plugin->pjrt_api_version.minor_version;"
    yield "  PJRT_Api* table = copy_of(plugin, plugin->struct_size);"
    yield "  table->extension_start = traced_chain(plugin->extension_start);"
    yield from _entries(api)
    yield "  return table;"
    yield "}"


def short(enum: str, member: str) -> str:
    """`PJRT_Buffer_Type_F32` -> `F32`; `PJRT_HostBufferSemantics_kMutableZeroCopy` -> `MutableZeroCopy`."""
    base = enum.removesuffix("_Type") if not member.startswith(enum) else enum
    short = member.removeprefix(base).lstrip("_")
    return short[1:] if len(short) > 1 and short[0] == "k" and short[1].isupper() else short
