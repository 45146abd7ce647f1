"""Write the traced PJRT table and its extension tables.

They have one wrapper for each function, which decodes the arguments before and after the call. Each plug-in of a
process has wrappers of its own, so finding the plug-in of a call costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import generate_objects
from decoding import values
from generate_live_rules import judges
from generate_object_tables import adoptions, object_tables, traced_objects
from marking import Marks, struct_sizes
from pjrt_abi import API_STRUCT, Abi, Function, Table, extensions, inner_tables

NOTICE = "// Generated from native/abi; do not edit."
# Statements to run before a call, recorded or not.
FIRST = {
    "PJRT_LoadedExecutable_Destroy": "output_counts.forget(args->executable);",
    "PJRT_Event_Destroy": "on_destroy(args);",
    "PJRT_LoadedExecutable_Execute": "AnswerScope answers(args);",
}
# Statements to run after a call, recorded or not.
LAST = {
    "PJRT_Event_Await": "on_await(args, error);",
    "PJRT_Event_IsReady": "on_is_ready(args, error, plugin_PJRT_Api);",
}
# Values that are recorded only if they differ from the normal case.
TOLD = ("unfilled", "exception", "missing_function", "error_object")
# The functions that register a callback.
CALLBACKS = {"PJRT_Event_OnReady"}


def enumerators(abi: Abi) -> str:
    """A C++ function `enumerator(value)` for every enum: the name without the enum's prefix, or nullptr if unknown."""
    lines = [NOTICE, "#pragma once", '#include "pjrt_c_api.h"', "namespace framedex::pjrt {"]
    for enum, members in abi.enums.items():
        lines.append(f"inline const char* enumerator({enum} value) {{")
        lines.append("  switch (static_cast<int>(value)) {")
        for value, member in {number: name for name, number in reversed(members.items())}.items():
            lines.append(f'    case {value}: return "{short_name(enum, member)}";')
        lines.append("    default: return nullptr;")
        lines.append("  }\n}")
    return "\n".join([*lines, "}  // namespace framedex::pjrt", ""])


def traced_table(abi: Abi, plugin: int) -> str:
    """The wrappers, the descriptions of recorded values, and the functions that wrap a table and its extensions.

    `plugin` is the number of the plug-in in its process, from 0.
    """
    tables = [_api(abi), *extensions(abi), *inner_tables(abi)]
    functions = [function for table in tables for function in table.functions]
    lines = [
        NOTICE,
        '#include "pjrt/compiled_memory.h"',
        '#include "pjrt/contents.h"',
        '#include "pjrt/extension_chain.h"',
        '#include "pjrt/host_callbacks.h"',
        '#include "pjrt/live_rules/judge.h"',
        '#include "pjrt/object_tables.h"',
        '#include "pjrt/output_counts.h"',
        '#include "pjrt/plugin_faults/exceptions.h"',
        '#include "pjrt/plugin_faults/output_marks.h"',
        '#include "pjrt/slots.h"',
        '#include "pjrt/traced_call.h"',
        f"namespace framedex::pjrt::plugin_{plugin} {{",
        "namespace {",
        f"constexpr size_t kPlugin = {plugin};",
        "uint32_t first_function = 0;",
        "int minor_version = 0;",
        "OutputCounts output_counts;",
        *(f"const {table.struct.name}* plugin_{table.struct.name} = nullptr;" for table in tables),
        "size_t outputs_of(PJRT_LoadedExecutable* executable) {",
        f"  return output_counts.find_or_query(executable, {_PLUGIN});",
        "}",
    ]
    lines += traced_objects(abi, len(functions))
    objects, queries = generate_objects.functions(abi), generate_objects.queries(abi)
    for function in functions:
        lines += _decoders(abi, function)
        marks = Marks(abi, abi.structs[function.arguments])
        known = objects.get(function.name, {}).get("objects", {})
        named = {each for each, value in known.items() if value["role"] == "names" and "list" not in value}
        lines += marks.null_results(f"null_results_{function.name}", named)
        lines += judges(abi, function, known, marks)
    # These functions have the same names as the API's function types, which are outside of this namespace.
    # Their symbols are the plain names, which stacks show. They are static, because each plug-in has them.
    lines += ["namespace traced {", 'extern "C" {']
    for index, function in enumerate(functions):
        lines += _wrapper(abi, index, function, is_query=function.name in queries)
    lines += ["}", "}  // namespace traced"]
    for table in tables:
        lines += _slots(abi, table)
    for table in tables[1:]:
        lines += _declaration(table)
    for table in tables[1:]:
        lines += _wrapping(table)
    lines += _extension_dispatch(tables)
    lines.append("}  // namespace")
    lines += _trace(abi, functions, queries, tables[0])
    return "\n".join([*lines, f"}}  // namespace framedex::pjrt::plugin_{plugin}", ""])


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


def value_names(abi: Abi, function: Function) -> list[str]:
    """The names of a function's recorded values. The last ones are recorded only if they differ from the normal
    case."""
    struct = abi.structs[function.arguments]
    sizes = [name for name, _, _ in struct_sizes(abi, struct)]
    return [*(value.name for value in values(abi, struct)), *sizes, *TOLD]


def _index_of(abi: Abi, function: Function, name: str) -> int:
    return value_names(abi, function).index(name)


def _decoders(abi: Abi, function: Function) -> Iterator[str]:
    struct = abi.structs[function.arguments]
    recorded = values(abi, struct)
    names = ", ".join(f'"{name}"' for name in value_names(abi, function))
    yield f"const char* const names_{function.name}[] = {{{names}}};"
    yield f"void inputs_{function.name}({function.arguments}* args, recorder::ArgumentWriter& writer) {{"
    for index, value in enumerate(recorded):
        if not value.is_output and value.statement:
            yield f"  if ({value.guard}) {value.statement.format(writer='writer', index=index)}"
    for index, (_, guard, size) in enumerate(struct_sizes(abi, struct), len(recorded)):
        yield f"  if ({guard}) writer.integer({index}, static_cast<int64_t>({size}));"
    target, slot = f"plugin_{function.table}", f"offsetof({function.table}, {function.member})"
    size = f"{target}->{'base.' if _is_extension(abi, function) else ''}struct_size"
    yield f"  const char* lacks = missing(reinterpret_cast<const void*>({target}->{function.member}), {size}, {slot});"
    yield f"  if (lacks != nullptr) writer.text({_index_of(abi, function, 'missing_function')}, lacks);"
    yield "}"
    marks = Marks(abi, struct)
    yield from marks.definition(f"Marks_{function.name}")
    yield f"void outputs_{function.name}({function.arguments}* args, recorder::ArgumentWriter& writer,"
    yield "    uint64_t unfilled) {"
    for index, value in enumerate(recorded):
        if value.is_output and value.statement:
            mask = marks.mask(f"{value.statement} {value.guard}")
            filled = f"(unfilled & {mask}) == 0 && " if mask else ""
            yield f"  if ({filled}{value.guard}) {value.statement.format(writer='writer', index=index)}"
    yield from adoptions(abi, struct, marks)
    names = ", ".join(f'"{name}"' for name in marks.names)
    if marks.names:
        yield f"  static const char* const names[] = {{{names}}};"
        yield f"  if (unfilled != 0) unfilled_names(writer, {_index_of(abi, function, 'unfilled')}, names, unfilled);"
    else:
        yield "  static_cast<void>(unfilled);"
    yield "  static_cast<void>(args);"
    yield "  static_cast<void>(writer);"
    yield "}"


def _is_extension(abi: Abi, function: Function) -> bool:
    return abi.structs[function.table].field("base") is not None


def _wrapper(abi: Abi, index: int, function: Function, *, is_query: bool) -> Iterator[str]:
    name, call = function.name, f"plugin_{function.table}->{function.member}(args)"
    returns = function.returns if function.returns_error else ""
    missed = ["  } else {", "    forget_objects_of_call();"] if not is_query else []
    yield f"static {function.returns} {name}({function.arguments}* args) {{"
    yield f"  if (args == nullptr) return {call};"
    if name in FIRST:
        yield f"  {FIRST[name]}"
    yield from _entry(name, index)
    if name in CALLBACKS:
        yield "  ReadCallback read(args);"
        yield f"  TracedCallback callback(call, args, {_PLUGIN});"
    if returns:
        yield f"  {returns} error = nullptr;"
    yield "  try {"
    yield f"    {'error = ' if returns else ''}{call};"
    yield "  } catch (...) {"
    yield "    if (call.is_recording()) {"
    yield "      marks.end();"
    yield f"      leave_by_exception(call, {_index_of(abi, function, 'exception')});"
    yield f"      if (is_validating) judge_results_{name}(args, stack, true, 0);"
    yield f'      if (is_validating) Judge("{name}", stack).exception();'
    yield from missed
    yield "    }"
    yield "    throw;"
    yield "  }"
    if name in CALLBACKS:
        yield "  callback.end(error);"
        yield "  read.end(error);"
    if name in LAST:
        yield f"  {LAST[name]}"
    yield from _exit(abi, function, returns)
    yield from missed
    yield "  }"
    if returns:
        yield "  return error;"
    yield "}"


def _entry(name: str, index: int) -> Iterator[str]:
    """The statements of a wrapper that record a call's beginning, and judge its arguments."""
    yield f"  recorder::Call call(first_function + {index});"
    yield f"  Marks_{name} marks;"
    yield "  uint64_t stack = 0;"
    yield "  if (call.is_recording()) {"
    yield f"    inputs_{name}(args, call.arguments());"
    yield "    call.enter();"
    yield "  }"
    yield "  if (call.is_recording()) {"
    yield f"    if (is_validating) judge_inputs_{name}(args, stack = call.stack());"
    yield "    marks.begin(args);"
    yield "  }"


def _exit(abi: Abi, function: Function, returns: str) -> Iterator[str]:
    """The statements of a wrapper that record a call's end, and then judge its results; the last `if` stays open."""
    name, is_error = function.name, "error != nullptr" if returns else "false"
    yield "  if (call.is_recording()) {"
    yield "    uint64_t unfilled = marks.end();"
    yield f"    {'if (error == nullptr) ' if returns else ''}unfilled |= null_results_{name}(args, unfilled);"
    yield f"    {'if (error == nullptr) ' if returns else ''}outputs_{name}(args, call.arguments(), unfilled);"
    if returns:
        source = _PLUGIN if returns == "PJRT_Error*" else f"plugin_{function.table}"
        yield f"    leave(call, {source}, error, {_index_of(abi, function, 'error_object')});"
    else:
        yield "    call.leave(0, {});"
    if returns == "PJRT_Error*":
        yield "    adopt(error);"
    yield f"    if (is_validating) judge_results_{name}(args, stack, {is_error}, unfilled);"


def _slots(abi: Abi, table: Table) -> Iterator[str]:
    """The described slots of a table."""
    if not table.functions:
        yield f"const Slot* const slots_{table.struct.name} = nullptr;"
        return
    yield f"const Slot slots_{table.struct.name}[] = {{"
    for function in table.functions:
        size = abi.structs[function.arguments].struct_size or abi.structs[function.arguments].size
        wrapper = f"reinterpret_cast<const void*>(traced::{function.name})"
        yield f'    {{"{function.name}", offsetof({table.struct.name}, {function.member}), {wrapper}, {size}}},'
    yield "};"


def _declaration(table: Table) -> Iterator[str]:
    yield f"{table.struct.name}* trace_{table.struct.name}(const {table.struct.name}* plugin);"


def _wrapping(table: Table) -> Iterator[str]:
    """The function that creates a table of wrappers for a plug-in's table. Missing functions stay null."""
    name = table.struct.name
    yield f"{name}* trace_{name}(const {name}* plugin) {{"
    yield from _copy(table, "base.struct_size" if table.type else "struct_size")
    for field in table.inner:
        inner = field.type.rstrip("*")
        yield f"  if (table->{field.name} != nullptr) table->{field.name} = trace_{inner}(table->{field.name});"
    yield from _entries(table)
    yield "  return table;"
    yield "}"


def _copy(table: Table, size: str) -> Iterator[str]:
    """Statements that copy a plug-in's table without the functions that it lacks."""
    name = table.struct.name
    yield f"  plugin_{name} = plugin;"
    yield f"  {name}* table = copy_of(plugin, plugin->{size});"
    yield "  add_traced_table({reinterpret_cast<const char*>(plugin), reinterpret_cast<const char*>(table),"
    yield f"                    plugin->{size}, sizeof({name}), slots_{name}, {len(table.functions)}, kPlugin}});"


def _entries(table: Table) -> Iterator[str]:
    for function in table.functions:
        yield f"  if (table->{function.member} != nullptr) table->{function.member} = traced::{function.name};"


def _extension_dispatch(tables: list[Table]) -> Iterator[str]:
    yield "PJRT_Extension_Base* traced_extension(const PJRT_Extension_Base* plugin) {"
    yield "  switch (static_cast<int>(plugin->type)) {"
    for table in tables:
        if table.type:
            name = table.struct.name
            yield f"    case {table.type}:"
            yield f"      return &trace_{name}(reinterpret_cast<const {name}*>(plugin))->base;"
    yield "    default: return nullptr;"
    yield "  }\n}"


def _trace(abi: Abi, functions: list[Function], queries: set[str], api: Table) -> Iterator[str]:
    yield "const PJRT_Api* trace(const PJRT_Api* plugin) {"
    yield "  static const recorder::Function functions[] = {"
    described = [(function.name, f"names_{function.name}", function.name in queries) for function in functions]
    inner = [function for own in object_tables(abi) for function in own.functions]
    described += [(each.name, each.names, ".get_" in each.name) for each in inner]
    for name, names, is_query in described:
        query = ", nullptr, true" if is_query else ""
        yield f'      {{kBoundaries[kPlugin], "{name}", {names}, std::size({names}){query}}},'
    yield "  };"
    yield "  first_function = recorder::register_functions(functions, sizeof(functions) / sizeof(functions[0]));"
    yield "  minor_version = plugin->pjrt_api_version.minor_version;"
    yield from _copy(api, "struct_size")
    yield "  table->extension_start = traced_chain(plugin->extension_start, traced_extension);"
    yield from _entries(api)
    yield "  return table;"
    yield "}"


def short_name(enum: str, member: str) -> str:
    """`PJRT_Buffer_Type_F32` -> `F32`; `PJRT_HostBufferSemantics_kMutableZeroCopy` -> `MutableZeroCopy`."""
    base = enum.removesuffix("_Type") if not member.startswith(enum) else enum
    short = member.removeprefix(base).lstrip("_")
    return short[1:] if len(short) > 1 and short[0] == "k" and short[1].isupper() else short
