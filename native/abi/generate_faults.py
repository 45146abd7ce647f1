"""Write the fault injection table: wrappers around the mock's table, installed where fault rules need them."""

from __future__ import annotations

from collections.abc import Iterator

from generate_trace import NOTICE
from pjrt_abi import Abi, Field, Function

# Functions that work on a device, and fail on a failed device. All others run on the host: descriptions, sizes,
# releases. The mock makes this choice; the ABI does not.
DEVICE_WORK = {
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_CreateUninitializedBuffer",
    "PJRT_Client_CreateBuffersForAsyncHostToDevice",
    "PJRT_Client_CreateViewOfDeviceBuffer",
    "PJRT_Buffer_ToHostBuffer",
    "PJRT_Buffer_CopyRawToHost",
    "PJRT_Buffer_CopyRawToHostFuture",
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_CopyToMemory",
    "PJRT_LoadedExecutable_Execute",
}
PLACES = ("PJRT_Device*", "PJRT_Memory*", "PJRT_Buffer*", "PJRT_LoadedExecutable*")


def fault_table(abi: Abi) -> str:
    """The wrappers, the function names that rules accept, and `wrap_with_faults(inner, wrapped)`."""
    functions = [function for function in abi.functions if can_fail(function)]
    lines = [NOTICE, '#include "pjrt/mock/faults.h"', "namespace framedex::mock {", "namespace {"]
    lines += ["const PJRT_Api* inner = nullptr;"]
    for index, function in enumerate(functions):
        lines += _wrapper(index, function, abi.structs[function.arguments].fields)
    lines += ["}  // namespace", "const std::vector<FaultFunction> kFaultFunctions = {"]
    lines += [f'    {{"{function.name}", {_has_events(abi, function)}}},' for function in functions]
    lines += ["};", "void wrap_with_faults(const PJRT_Api* api, PJRT_Api& wrapped) {", "  inner = api;"]
    lines += [f"  wrapped.{function.name} = {function.name};" for function in functions]
    return "\n".join([*lines, "}", "}  // namespace framedex::mock", ""])


def can_fail(function: Function) -> bool:
    """Whether a rule may name the function. Functions that read an error do not return one."""
    return function.returns_error and not function.name.startswith("PJRT_Error_")


def _wrapper(index: int, function: Function, fields: tuple[Field, ...]) -> Iterator[str]:
    events = [field for field in fields if field.is_output and field.type == "PJRT_Event*"]
    event_lists = [field for field in fields if field.is_output and field.type == "PJRT_Event**"]
    places = [field for field in fields if field.type in PLACES and not field.is_output]
    yield f"PJRT_Error* {function.name}({function.arguments}* args) {{"
    yield f"  FaultyCall call({index});"
    if function.name in DEVICE_WORK:
        is_execute = str(function.name == "PJRT_LoadedExecutable_Execute").lower()
        uses = " || ".join(f"is_on(*inner, args->{field.name}, device)" for field in places)
        yield f"  if (PJRT_Error* error = call.device_failure([args](int device) {{ return {uses}; }}, {is_execute}))"
        yield "    return error;"
    yield "  if (PJRT_Error* error = call.failure()) return error;"
    # A size query leaves the event unchanged.
    yield from (f"  args->{field.name} = nullptr;" for field in events)
    yield f"  PJRT_Error* error = inner->{function.name}(args);"
    yield from (f"  if (error == nullptr) call.fail_event(args->{field.name});" for field in events)
    for field in event_lists:
        yield f"  for (size_t i = 0; error == nullptr && args->{field.name} != nullptr && i < args->num_devices; ++i)"
        yield f"    call.fail_event(args->{field.name}[i]);"
    yield "  return error;"
    yield "}"


def _has_events(abi: Abi, function: Function) -> str:
    """Whether the function returns events of work that it starts."""
    outputs = {field.type for field in abi.structs[function.arguments].fields if field.is_output}
    starts_work = not function.name.startswith("PJRT_Event_")
    return str(starts_work and not outputs.isdisjoint({"PJRT_Event*", "PJRT_Event**"})).lower()
