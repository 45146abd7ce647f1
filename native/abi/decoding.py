"""The recorded fields of an argument struct and their encoding, derived from types and the C API's conventions.

The conventions:

- `const char* x` has the length `size_t x_size`
- `const T* xs` has the count `size_t num_xs`
- `const char** xs` has the lengths `const size_t* x_sizes`
- a pointer to a described struct is followed once
- a pointer to an opaque struct is an object's identity
- `PJRT_Buffer_Type` with dims determines a size in bytes

A list is an output if its count is one, and vice versa. A field with a deleter is an output too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pjrt_abi import API_STRUCT, Abi, Field, Struct

# The counts of lists without a convention, from the comments in the API's headers.
COUNTS = {
    ("PJRT_ExecuteOptions", "task_ids"): "num_tasks",
    ("PJRT_ExecuteOptions", "incarnation_ids"): "num_tasks",
    ("PJRT_Buffer_DynamicDimensionIndices_Args", "dynamic_dim_indices"): "num_dynamic_dims",
    ("PJRT_Collectives_Communicator_AllToAll_Args", "send_buffers_ptrs"): "num_send_buffers",
    ("PJRT_Collectives_Communicator_AllToAll_Args", "send_buffers_sizes"): "num_send_buffers",
    ("PJRT_Collectives_Communicator_AllToAll_Args", "recv_buffers_ptrs"): "num_recv_buffers",
    ("PJRT_Collectives_Communicator_AllToAll_Args", "recv_buffers_sizes"): "num_recv_buffers",
    ("PJRT_Collectives_CreateCommunicators_Args", "rank_ids"): "num_device_ranks",
    ("PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args", "layouts"): "num_outputs",
    ("PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args", "layouts"): "num_parameters",
    ("PJRT_LoadedExecutable_Execute_Args", "device_complete_events"): "num_devices",
    ("PJRT_MultiSlice_Config_NumDevicesPerSlice_Args", "slice_ids"): "num_devices_per_slice_map",
    ("PJRT_MultiSlice_Config_NumDevicesPerSlice_Args", "num_devices"): "num_devices_per_slice_map",
    ("PJRT_TpuTopology_LogiDeviceIdsOnProcess_Args", "logical_device_of_default_type_ids"): "num_logical_device_ids",
    ("PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args", "send_events"): "num_buffers",
    ("PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args", "buffers"): "num_shapes",
}
# Outputs that the headers do not mark as such, or not next to the field.
OUTPUTS = {
    ("PJRT_Client_DefaultDeviceAssignment_Args", "default_assignment"),
    ("PJRT_TpuTopology_GetRoutingStrategy_Args", "routing_strategy"),
    ("PJRT_TpuTopology_GetRoutingStrategy_Args", "routing_strategy_len"),
    ("PJRT_TpuTopology_GetSliceConfig_Args", "slice_config"),
    ("PJRT_Triton_Compile_Args", "out_asm"),
    ("PJRT_Triton_Compile_Args", "out_smem_bytes"),
    ("PJRT_Triton_Compile_Args", "out_path"),
}
# Lists with a row for each device: number of devices and length of a row. `outputs_of` queries the plug-in.
ROWS = {
    ("PJRT_LoadedExecutable_Execute_Args", "argument_lists"): ("args->num_devices", "args->num_args"),
    ("PJRT_LoadedExecutable_Execute_Args", "output_lists"): ("args->num_devices", "outputs_of(args->executable)"),
}
UNSIGNED = {"size_t", "uint64_t", "uint32_t", "uintptr_t"}
SIGNED = {"int", "int64_t", "int32_t", "intptr_t"}
REAL = {"float", "double"}
LISTED = {"int64_t", "size_t", "int", "int32_t"}
# A program to compile, and other calls that create an executable.
PROGRAM = "const PJRT_Program*"
LOADS = {"PJRT_Executable_DeserializeAndLoad_Args"}
EXECUTABLES = {"PJRT_Executable*", "PJRT_LoadedExecutable*"}
# A program's compile options: a serialised message, kept like the program.
OPTIONS = "compile_options"
# The contents of buffers, which are kept if the recording asks for it (native/pjrt/contents.h): the value's name, the
# C++ statement, whether it is an output.
CONTENTS = {
    "PJRT_Client_BufferFromHostBuffer_Args": [("data.kept", "keep_host_buffer({writer}, {index}, args);", False)],
    "PJRT_AsyncHostToDeviceTransferManager_TransferData_Args": [
        ("data.kept", "keep_transfer({writer}, {index}, args->data, args->transfer_size);", False),
    ],
    "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args": [
        ("data.kept", "keep_literal({writer}, {index}, args);", False),
    ],
    "PJRT_Buffer_ToHostBuffer_Args": [
        ("dst.read", "expect_read({writer}, {index}, args->dst, args->dst_size, args->event);", True),
    ],
    "PJRT_Buffer_CopyRawToHost_Args": [
        (
            "dst.read",
            "expect_read({writer}, {index}, args->dst, static_cast<size_t>(args->transfer_size), args->event);",
            True,
        ),
    ],
    "PJRT_LoadedExecutable_Execute_Args": [("answered", "answered_execution({writer}, {index}, args);", False)],
    "PJRT_CopyToDeviceStream_AddChunk_Args": [
        ("chunk.kept", "keep_chunk({writer}, {index}, args->chunk);", False),
        ("answer", "answer_of_stream({writer}, {index}, args->stream);", False),
    ],
}
# The shapes of buffers whose contents are transferred later: the value's name, and the C++ statement.
SHAPES = {
    "PJRT_Client_CreateBuffersForAsyncHostToDevice_Args": [
        ("shapes", "shape_texts({writer}, {index}, args->shape_specs, args->num_shape_specs);"),
    ],
}
# Channels of host callbacks (native/pjrt/host_callbacks.h), by struct: the value's name, the list, and its length.
CHANNELS = {
    "PJRT_LoadedExecutable_Execute_Args": [
        ("send_channels", "args->options->send_callbacks", "args->options->num_send_ops"),
        ("receive_channels", "args->options->recv_callbacks", "args->options->num_recv_ops"),
    ],
}
BOOKKEEPING = {"struct_size", "extension_start", "vtable"}


@dataclass(frozen=True)
class Value:
    """A recorded value: its `name` (dotted inside a nested struct), and the C++ statement that writes it.

    In `statement`, `{writer}` is the argument writer and `{index}` the value's index in its function. `guard` is the
    C++ condition for the statement.
    """

    name: str
    statement: str
    guard: str
    is_output: bool


def values(abi: Abi, struct: Struct) -> list[Value]:
    """The recorded values of an argument struct, in field order. C++ calls the struct `args`."""
    shapes = [Value(name, statement, "true", is_output=False) for name, statement in SHAPES.get(struct.name, ())]
    return [
        *_values(abi, struct, "args", "", nested=False),
        *shapes,
        *_channel_values(struct),
        *_content_values(struct),
    ]


def _channel_values(struct: Struct) -> Iterator[Value]:
    for name, callbacks, count in CHANNELS.get(struct.name, ()):
        statement = f"channels({{writer}}, {{index}}, {callbacks}, args->num_devices, {count});"
        yield Value(name, statement, f"args->options != nullptr && {count} != 0", is_output=False)


def _content_values(struct: Struct) -> Iterator[Value]:
    """The contents that a call carries, in a recording that keeps contents."""
    for name, statement, returned in CONTENTS.get(struct.name, ()):
        yield Value(name, statement, "recorder::kept_contents() != recorder::Contents::kNone", returned)


def _values(abi: Abi, struct: Struct, pointer: str, prefix: str, *, nested: bool) -> Iterator[Value]:
    counts = {count_name(struct, field) for field in struct.fields if _is_counted(abi, struct, field)}
    counts |= {sizes for field in struct.fields if (sizes := sizes_name(struct, field))}
    for field in struct.fields:
        if field.name is None or field.name in BOOKKEEPING or field.name in counts:
            continue
        returned = is_output(abi, struct, field)
        guard = _guard(struct, field, pointer, returned=returned, nested=nested)
        access, name = f"{pointer}->{field.name}", prefix + field.name
        target = field.type.removeprefix("const ").rstrip("*")
        if field.type.count("*") <= 1 and target in abi.structs and not nested and _is_followed(abi, target):
            if "*" not in field.type:
                access = f"(&{access})"
            for value in _values(abi, abi.structs[target], access, f"{name}.", nested=True):
                yield Value(value.name, value.statement, f"{guard} && {value.guard}", returned)
            if field.type == PROGRAM and not returned:
                keep = f"program_kept({{writer}}, {{index}}, {access});"
                yield Value(f"{name}.kept", keep, f"{guard} && {access} != nullptr", returned)
            continue
        statement = _statement(abi, struct, field, pointer)
        if statement:
            yield Value(name, statement, guard, returned)
        if field.name == OPTIONS and not returned:
            size = f"{pointer}->{count_name(struct, field)}"
            keep = f"recorder::keep({{writer}}, {{index}}, {access}, {size});"
            yield Value(f"{name}.kept", keep, guard, returned)
    program = next((field.name for field in struct.fields if field.type == PROGRAM and not field.is_output), None)
    if struct.name in LOADS or program is not None:
        keep = f"note_kept({{writer}}, {{index}}, {pointer}->{program});"
        if program is None:
            loaded = f"{pointer}->serialized_executable"
            keep = f"recorder::keep_note({{writer}}, {{index}}, {{{{{loaded}, {loaded}_size}}}});"
        yield Value(f"{prefix}jax.kept", keep, "true", False)
        yield from _compiled_values(struct, pointer)
    if struct.field("dims") and (kind := _buffer_type(struct)):
        size = f"{{writer}}.integer({{index}}, dense_bytes({pointer}->{kind}, {pointer}->dims, {pointer}->num_dims));"
        yield Value(f"{prefix}bytes", size, f"{pointer} != nullptr" if nested else "true", False)


def _guard(struct: Struct, field: Field, pointer: str, *, returned: bool, nested: bool) -> str:
    """The C++ condition under which a field has a value."""
    guard = f"has({pointer}, &{struct.name}::{field.name})" if struct.field("struct_size") else "true"
    if returned and field.since:  # a plug-in fills only the fields of its own version
        guard += f" && minor_version >= {field.since}"
    return f"{pointer} != nullptr && {guard}" if nested and not pointer.startswith("(&") else guard


def guard_of_output(struct: Struct, field: Field) -> str:
    """The C++ condition under which the plug-in has to assign an output field of `args`."""
    return _guard(struct, field, "args", returned=True, nested=False)


def _compiled_values(struct: Struct, pointer: str) -> Iterator[Value]:
    """The memory of the executable that a call returns, as the plug-in reports it."""
    for field in struct.fields:
        if field.is_output and field.type in EXECUTABLES:
            guard = f"{pointer}->{field.name} != nullptr"
            ask = f"compiled_memory({{writer}}, {{index}}, {pointer}->{field.name}, plugin_{API_STRUCT});"
            yield Value("memory", ask, guard, True)
            yield Value("optimized.kept", "", guard, True)  # compiled_memory() writes this value too


def _is_followed(abi: Abi, target: str) -> bool:
    """Whether the members of this struct are recorded. Lists of PJRT_NamedValue have their own writer."""
    fields = [field for field in abi.structs[target].fields if field.name not in BOOKKEEPING]
    return bool(fields) and target != "PJRT_NamedValue"


def _buffer_type(struct: Struct) -> str | None:
    return next((field.name for field in struct.fields if field.type == "PJRT_Buffer_Type"), None)


def count_name(struct: Struct, field: Field) -> str | None:
    """The sibling field with the number of elements or bytes behind a pointer field, or None."""
    if field.name is None or "*" not in field.type:
        return None
    if (struct.name, field.name) in COUNTS:
        return COUNTS[struct.name, field.name]
    head, _, last = field.name.rpartition("_")
    conventions = (f"{field.name}_size", f"num_{field.name}", f"num_{field.name}s", f"{head}_num_{last}", f"num_{last}")
    for candidate in (*conventions, f"{field.name}_num_dims", f"{field.name}_dim_num", f"{field.name}_len"):
        sibling = struct.field(candidate)
        if sibling and sibling.type == "size_t":
            return candidate
    return None


def _is_counted(abi: Abi, struct: Struct, field: Field) -> bool:
    """Whether the recorded field implies its count. The size of plain memory is a separate value."""
    count = count_name(struct, field)
    return count is not None and f"args->{count}" in (_statement(abi, struct, field, "args") or "")


def is_output(abi: Abi, struct: Struct, field: Field) -> bool:
    if field.is_output or (struct.name, field.name) in OUTPUTS or struct.field(f"{field.name}_deleter"):
        return True
    count = struct.field(count_name(struct, field) or "")
    has_output_count = count is not None and count.is_output and _is_counted(abi, struct, field)
    counts_an_output = any(
        other.is_output and sizes_name(struct, other) and list_of_lists_count(struct, other) == field.name
        for other in struct.fields
    )
    return has_output_count or counts_an_output


def sizes_name(struct: Struct, field: Field) -> str | None:
    """The sibling field with the lengths of the texts (or lists) in a list, or None."""
    if field.name is None or "*" not in field.type:
        return None
    for candidate in (f"{field.name}_sizes", f"{field.name.removesuffix('s')}_sizes", f"{field.name}_size"):
        sibling = struct.field(candidate)
        if sibling and sibling.type in ("const size_t*", "size_t*"):
            return candidate
    return None


def list_of_lists_count(struct: Struct, field: Field) -> str | None:
    """The field with the number of texts (or lists): the one named by convention, or else the struct's only count."""
    named = count_name(struct, field)
    counts = [other.name for other in struct.fields if other.name and other.name.startswith("num_")]
    if named or len(counts) != 1:
        return named
    return counts[0]


def _statement(abi: Abi, struct: Struct, field: Field, pointer: str) -> str | None:
    """The C++ statement that records one field; None for callbacks and deleters."""
    access = f"{pointer}->{field.name}"
    if scalar := _scalar(abi, field.type, access):
        return scalar
    if "(" in abi.typedefs.get(field.type.rstrip("*"), field.type):
        return None
    if (struct.name, field.name) in ROWS:
        rows, length = ROWS[struct.name, field.name or ""]
        outer = f"reinterpret_cast<const void* const* const*>({access})"
        return f"{{writer}}.address_lists({{index}}, {outer}, {rows}, {length});"
    sizes, lists = sizes_name(struct, field), list_of_lists_count(struct, field)
    if sizes and lists:
        return _list_of_lists(field.type, access, f"{pointer}->{sizes}", f"{pointer}->{lists}")
    count = count_name(struct, field)
    return _pointer(abi, field.type, access, f"{pointer}->{count}" if count else None)


def _list_of_lists(c_type: str, access: str, sizes: str, count: str) -> str:
    """A list of texts, or consecutive lists of integers."""
    if "char" in c_type:
        return f"texts({{writer}}, {{index}}, {access}, {sizes}, {count});"
    return f"{{writer}}.integers({{index}}, {access}, total({sizes}, {count}));"


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
