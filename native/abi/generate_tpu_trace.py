"""Write the exported functions of the legacy TPU C API, and the table of UNIMPLEMENTED answers.

Each exported function records its call, with the arguments decoded before and after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from decoding import Value
from generate_tpu_header import NOTICE, parameters
from tpu_abi import Function, TpuAbi
from tpu_decoding import outputs, status, values

BOUNDARY = "tpu_executor"
# Functions that report a failure through their result: the condition, the status code and the message.
FAILURES = {
    "TpuExecutor_Allocate": (
        "returned.opaque == nullptr",
        "TpuStatusCode_resource_exhausted",
        "no free block is large enough",
    )
}


def exported_functions(abi: TpuAbi) -> str:
    """The definitions of the functions, under the names that jaxlib looks up."""
    lines = [
        NOTICE.format(jaxlib=abi.jaxlib),
        '#include "tpu_legacy/api.h"',
        '#include "tpu_legacy/traced_call.h"',
        "namespace framedex::tpu_legacy {",
        "namespace {",
    ]
    recorded = {function.name: values(abi, function) for function in abi.functions}
    for function in abi.functions:
        lines += _decoders(function, recorded[function.name])
    lines += _registration(abi, recorded)
    lines += ["}  // namespace", "}  // namespace framedex::tpu_legacy"]
    lines += ["using namespace framedex::tpu_legacy;", 'extern "C" {']
    for place, function in enumerate(abi.functions):
        lines += _exported(abi, place, function)
    return "\n".join([*lines, "}", ""])


def unimplemented_table(abi: TpuAbi) -> str:
    """A table whose entries clear their outputs and return UNIMPLEMENTED with the function's name."""
    lines = [
        NOTICE.format(jaxlib=abi.jaxlib),
        '#include "tpu_legacy/api.h"',
        "namespace framedex::tpu_legacy {",
        "TpuApi unimplemented() {",
        "  TpuApi api{};",
    ]
    for function in abi.functions:
        lines.append(f"  api.{function.name} = []({_unnamed(abi, function)}) -> {function.returns} {{")
        lines += [f"    if ({name} != nullptr) *{name} = {{}};" for name in outputs(function)]
        if expression := status(abi, function):
            lines.append(f'    unimplemented({expression}, "{function.name}");')
        if function.returns != "void":
            lines.append("    return {};")
        lines.append("  };")
    return "\n".join([*lines, "  return api;", "}", "}  // namespace framedex::tpu_legacy", ""])


def _unnamed(abi: TpuAbi, function: Function) -> str:
    """The parameters of a stub, without the names of unused ones."""
    used = {*outputs(function), (status(abi, function) or "").partition("->")[0]}
    return ", ".join(
        f"{parameter.type} {parameter.name}" if parameter.name in used else parameter.type
        for parameter in function.parameters
    )


def _decoders(function: Function, recorded: list[Value]) -> Iterator[str]:
    names = ", ".join(f'"{value.name}"' for value in recorded) or "nullptr"
    yield f"const char* const names_{function.name}[] = {{{names}}};"
    unused = ", ".join(f"[[maybe_unused]] {parameter.type} {parameter.name}" for parameter in function.parameters)
    writer = "[[maybe_unused]] recorder::ArgumentWriter& writer"
    yield f"void inputs_{function.name}({', '.join(filter(None, (writer, unused)))}) {{"
    yield from _statements(recorded, is_output=False)
    yield "}"
    returned = f"[[maybe_unused]] {function.returns} returned" if function.returns != "void" else ""
    yield f"void outputs_{function.name}({', '.join(filter(None, (writer, unused, returned)))}) {{"
    yield from _statements(recorded, is_output=True)
    yield "}"


def _statements(recorded: list[Value], *, is_output: bool) -> Iterator[str]:
    for index, value in enumerate(recorded):
        if value.is_output == is_output:
            statement = value.statement.format(writer="writer", index=index)
            yield f"  {statement}" if value.guard == "true" else f"  if ({value.guard}) {{ {statement} }}"


def _registration(abi: TpuAbi, recorded: dict[str, list[Value]]) -> Iterator[str]:
    yield "uint32_t first_function() {"
    yield "  static const recorder::Function functions[] = {"
    for function in abi.functions:
        count = len(recorded[function.name])
        yield f'      {{"{BOUNDARY}", "{function.name}", names_{function.name}, {count}}},'
    yield "  };"
    yield "  static const uint32_t first = recorder::register_functions(functions, std::size(functions));"
    yield "  return first;"
    yield "}"


def _exported(abi: TpuAbi, place: int, function: Function) -> Iterator[str]:
    name = function.name
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    decoded = ", ".join(filter(None, ("call.arguments()", arguments)))
    yield f"FRAMEDEX_EXPORT {function.returns} {name}({parameters(function)}) {{"
    yield "  const TpuApi& api = framedex::tpu_legacy::api();"
    yield f"  framedex::recorder::Call call(first_function() + {place});"
    yield "  if (call.is_recording()) {"
    yield f"    inputs_{name}({decoded});"
    yield "    call.enter();"
    yield "  }"
    result = "" if function.returns == "void" else "auto returned = "
    yield f"  {result}api.{name}({arguments});"
    yield "  if (call.is_recording()) {"
    expression = status(abi, function)
    succeeded = f"if (succeeded(api, {expression})) " if expression else ""
    yield f"    {succeeded}outputs_{name}({decoded}{', returned' if result else ''});"
    if expression:
        yield f"    leave(call, api, {expression});"
    elif name in FAILURES:
        condition, code, message = FAILURES[name]
        yield f'    {condition} ? call.leave({code}, "{message}") : call.leave(0, {{}});'
    else:
        yield "    call.leave(0, {});"
    yield "  }"
    if result:
        yield "  return returned;"
    yield "}"
