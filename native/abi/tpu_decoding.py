"""The recorded values of a legacy TPU C API call and their encoding, derived from the types of its parameters.

The conventions:

- `char* x` has the length `x_size`
- a list `xs` has the count `xs_size`, `xs_len` or the entry in COUNTS
- a described struct is recorded member by member
- a pointer to an opaque struct is an object's identity
- a pointer to a number, or to a pointer, is an output
- a member `x` is recorded only if `has_x` is true
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from decoding import Value
from tpu_abi import STATUS, Field, Function, Struct, TpuAbi

INTEGERS = {"int", "int32_t", "int64_t", "uint8_t", "uint32_t", "uint64_t", "size_t", "unsigned int"}
# The counts of lists without a convention.
COUNTS = {
    ("TpuComputationPlacer_AssignDevices", "assignment"): "replica_count * computation_count",
    ("TpuComputationPlacer_AssignLocalDevices", "assignment"): "replica_count * computation_count",
    ("TpuTransferManager_ResetDevices", "executors"): "num_executors",
    ("TfTpu_Initialize", "args"): "num_args",
    ("TpuExecutable_Fingerprint", "fingerprint"): "*size",
    ("TpuCompile_CreateGuaranteedConstFingerprint", "data"): "size",
    ("TpuStatus_Set", "msg"): "len",
    ("XLA_ComputationLayout", "parameter_layouts"): "parameter_count",
}
# Structs that the library fills.
OUTPUTS = {
    ("HardwareLayout_HostShapeToDeviceShape", "device_shape"),
    ("TpuCompiler_DefaultDeviceShapeRepresentation", "device_shape"),
    ("TpuCompiler_RunHloPasses", "result"),
    ("TpuExecutable_ExecuteAsyncOnStream", "se_output"),
    ("TpuExecutable_Fingerprint", "fingerprint"),
    ("TpuExecutor_CreateDeviceDescription", "description"),
    ("TpuExecutor_GetAllocatorStats", "stats"),
    ("TpuProgram_GetExecutableInfo", "executable_info"),
    ("TpuProgram_GetHloMetadata", "hlo_metadata"),
    ("TpuProgram_GetHostTransferInfo", "host_transfer_info"),
    ("TpuProgram_SerializeCompilerMetadata", "compiler_metadata"),
    ("TpuProgram_SerializeTpuExecutable", "executable"),
    ("TpuTransferManager_ChooseCompactLayoutForShape", "output"),
    ("TpuTransferManager_GetInfeedLayout", "infeed_shape"),
    ("TpuTransferManager_HostShapeToDeviceShape", "device_shape"),
    ("TpuTransferManager_ReadDynamicShapes", "updated_shape"),
    ("XlaShapeToTpuPaddedShape", "padded_shape"),
    ("XlaShapeToTpuShapeRepresentation", "serialized_tpu_shape"),
    ("TfTpu_GetTpuPartitionedCallParams", "params"),
}
# Inputs that look like outputs: lists that the caller passes or returns, and capacities of lists.
INPUTS = {
    ("TpuComputationPlacer_AssignDevices", "assignment"),
    ("TpuComputationPlacer_AssignLocalDevices", "assignment"),
    ("TpuExecutable_ExecuteAsyncOnStream", "se_arguments"),
    ("TpuHostLocation_Cores", "cores"),
    ("TpuProgram_FreeArray", "tpu_program"),
    ("TpuTopology_Cores", "cores"),
    ("TpuConfigurationApi_FreeInt32Array", "output"),
    ("TpuExecutor_DequeueOutfeed", "data"),
    ("TpuExecutor_EnqueueInfeed", "data"),
    ("TpuExecutableSerialize_WriteToArray", "serialized"),
    ("TpuProfiler_CollectData", "buffer"),
    ("TpuTransferManager_FreeBuffers", "buffers_array"),
    ("TpuTransferManager_FreeBuffers", "buffers_size"),
    ("TpuTransferManager_ResetDevices", "executors"),
    ("TpuTransferManager_TransferBuffersToInfeed", "buffers_array"),
    ("TpuTransferManager_TransferBuffersToInfeed", "buffers_size_in_uint32"),
}
LISTS = {"Int64List", "IntList", "BoolList", "FloatList", "TileList"}
# Structs with their own writer: the names of the values, each with its writing function.
WRITERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "SE_DeviceMemoryBase": (("", "write_memory"), (".size", "write_memory_size")),
    "XLA_Shape": (("", "write_shape"),),
    "XLA_Literal": ((".shape", "write_literal_shape"), (".bytes", "write_literal_bytes")),
    "XLA_ShapedBuffer": (
        (".shape", "write_buffer_shape"),
        (".bases", "write_buffer_bases"),
        (".device_ordinal", "write_buffer_ordinal"),
    ),
}


def values(abi: TpuAbi, function: Function) -> list[Value]:
    """The recorded values of a function: its parameters in order, then `returned`."""
    return list(_values(abi, function))


def outputs(function: Function) -> Iterator[str]:
    """The names of the parameters that point to memory for one output."""
    for parameter in function.parameters:
        if parameter.type != STATUS and _is_output(function, parameter.name, parameter.type):
            yield parameter.name


def status(abi: TpuAbi, function: Function) -> str | None:
    """The C++ expression for the status of a call; None if it has no status of its own."""
    if function.has("status", STATUS) and not function.name.startswith("TpuStatus_"):
        return "status"
    for parameter in function.parameters:
        struct = abi.structs.get(parameter.type.removesuffix("*"))
        if struct and struct.field("status") and parameter.type.endswith("*"):
            return f"{parameter.name}->status"
    return None


def _values(abi: TpuAbi, function: Function) -> Iterator[Value]:
    failure = status(abi, function)
    counts = {count for parameter in function.parameters if (count := _counting_parameter(function, parameter.name))}
    for parameter in function.parameters:
        if parameter.name in counts or (parameter.type == STATUS and parameter.name == failure):
            continue
        is_output = _is_output(function, parameter.name, parameter.type)
        count = _count(function, parameter.name)
        if _is_identity(function, parameter.type):
            yield Value(parameter.name, f"{{writer}}.address({{index}}, {parameter.name});", "true", False)
            continue
        for name, statement, guard in _parameter_values(
            abi, parameter.name, parameter.type, parameter.name, is_output, count
        ):
            yield Value(name, statement, guard, is_output)
    if function.returns.endswith("*") and not function.returns.endswith("char*"):
        yield Value("returned", "{writer}.address({index}, returned);", "true", True)
    elif function.returns != "void":
        for name, statement, guard in _parameter_values(abi, "returned", function.returns, "returned", False, None):
            yield Value(name, statement, guard, True)


def _is_identity(function: Function, c_type: str) -> bool:
    """Whether only the address is recorded, because a released object may be only partly initialised."""
    return c_type.endswith("*") and ("Free" in function.name or "Destroy" in function.name)


def _is_output(function: Function, name: str, c_type: str) -> bool:
    if (function.name, name) in OUTPUTS:
        return True
    if (function.name, name) in INPUTS or not c_type.endswith("*") or c_type.startswith("const "):
        return False
    return c_type.endswith("**") or c_type.removesuffix("*") in INTEGERS | {"bool"}


def _count(function: Function, name: str) -> str | None:
    if (function.name, name) in COUNTS:
        return COUNTS[function.name, name]
    return next((count for count in _counts_of(name) if function.has(count, "int", "size_t", "const size_t")), None)


def _counting_parameter(function: Function, name: str) -> str | None:
    """The parameter recorded as the length of another parameter's text or list."""
    count = _count(function, name)
    return count if count and function.has(count, "int", "size_t", "const size_t", "int32_t", "int64_t") else None


def _counts_of(name: str) -> tuple[str, ...]:
    stem = name.removesuffix("_key").removesuffix("_value")
    return f"{name}_size", f"{name}_len", f"{stem}_size"


Written = Iterator[tuple[str, str, str]]


def _parameter_values(abi: TpuAbi, name: str, c_type: str, access: str, is_output: bool, count: str | None) -> Written:
    """The recorded values of one parameter or member, as name, C++ statement and guard."""
    plain = c_type.removeprefix("const ").strip()
    pointee = plain.rstrip("*&")
    depth = plain.count("*")
    c_name = abi.typedefs.get(pointee, pointee)
    if is_output and depth:
        guard, access, depth = f"{access} != nullptr", f"(*{access})", depth - 1
        plain = pointee + "*" * depth
    else:
        guard = "true"
    if "(*)" in c_name:
        return
    if pointee in abi.structs and depth <= 1:
        pointer = access if depth == 1 else _address_of(access)
        yield from _struct_values(abi, name, abi.structs[pointee], pointer, guard, may_be_null=depth == 1)
        return
    statement = _statement(abi, pointee, depth, access, count)
    yield name, statement, guard


def _address_of(access: str) -> str:
    return access[2:-1] if access.startswith("(*") else f"(&{access})"


def _statement(abi: TpuAbi, pointee: str, depth: int, access: str, count: str | None) -> str:
    if depth == 0:
        return _scalar(abi, pointee, access)
    if pointee == "char" and depth == 1:
        return f"{{writer}}.text_or_size({{index}}, {access}, {count or f'text_length({access})'});"
    if pointee == "char" and count:
        return f"write_texts({{writer}}, {{index}}, {access}, {count});"
    if pointee == "SE_ExecutionInput" and count:
        return f"write_inputs({{writer}}, {{index}}, {access}, {count});"
    if pointee in INTEGERS and depth == 1 and count:
        return f"{{writer}}.integers({{index}}, {access}, static_cast<size_t>({count}));"
    if depth == 2 and count:
        list_of = f"reinterpret_cast<const void* const*>({access})"
        return f"{{writer}}.addresses({{index}}, {list_of}, static_cast<size_t>({count}));"
    return f"{{writer}}.address({{index}}, {access});"


def _scalar(abi: TpuAbi, c_type: str, access: str) -> str:
    if c_type == "bool":
        return f"{{writer}}.boolean({{index}}, {access});"
    if c_type == "float":
        return f"{{writer}}.real({{index}}, {access});"
    if c_type.startswith("std::optional"):
        return f"if ({access}) {{writer}}.integer({{index}}, static_cast<int64_t>(*{access}));"
    if c_type in abi.enums:
        return f"write_enumeration({{writer}}, {{index}}, {access});"
    assert c_type in INTEGERS, c_type
    return f"{{writer}}.integer({{index}}, static_cast<int64_t>({access}));"


def _struct_values(abi: TpuAbi, name: str, struct: Struct, pointer: str, guard: str, *, may_be_null: bool) -> Written:
    if may_be_null:
        guard = _conjunction(guard, f"{pointer} != nullptr")
    if struct.name in WRITERS:
        for suffix, writer in WRITERS[struct.name]:
            yield name + suffix, f"{writer}({{writer}}, {{index}}, *{pointer});", guard
        return
    if struct.name in LISTS:
        yield name, f"write_list({{writer}}, {{index}}, *{pointer});", guard
        return
    if {field.name for field in struct.fields} == {"bytes", "size"}:
        yield name, f"{{writer}}.text_or_size({{index}}, {pointer}->bytes, {pointer}->size);", guard
        return
    for field in struct.fields:
        yield from _field_values(abi, name, struct, field, pointer, guard)


def _field_values(abi: TpuAbi, name: str, struct: Struct, field: Field, pointer: str, guard: str) -> Written:
    if field.name in (None, "struct_size", "priv", "status") or "(*" in abi.typedefs.get(field.type, ""):
        return
    assert field.name is not None
    if struct.field(f"has_{field.name}"):
        guard = _conjunction(guard, f"{pointer}->has_{field.name}")
    access = f"{pointer}->{field.name}"
    if "[" in field.type:
        element, _, extent = field.type.partition("[")
        if element in INTEGERS:
            yield f"{name}.{field.name}", f"{{writer}}.integers({{index}}, {access}, {extent.rstrip(']')});", guard
        return
    count = COUNTS.get((struct.name, field.name)) or next(
        (candidate for candidate in _counts_of(field.name) if _is_count(struct, candidate)), None
    )
    count = f"{pointer}->{count}" if count else None
    if "::" in field.type:
        yield f"{name}.{field.name}", f"{{writer}}.address({{index}}, {access});", guard
    elif field.type.removeprefix("const ") == "XLA_Shape*" and count:
        yield f"{name}.{field.name}", f"write_shapes({{writer}}, {{index}}, {access}, {count});", guard
    elif field.type.removeprefix("const ") == "SE_DeviceMemoryBase*" and count:
        yield f"{name}.{field.name}", f"write_memories({{writer}}, {{index}}, {access}, {count});", guard
    elif "*" in field.type and field.type.removeprefix("const ").rstrip("*") in abi.structs:
        yield f"{name}.{field.name}", f"{{writer}}.address({{index}}, {access});", guard
    else:
        for member, statement, condition in _parameter_values(
            abi, f"{name}.{field.name}", field.type, access, False, count
        ):
            yield member, statement, _conjunction(guard, condition)


def _is_count(struct: Struct, name: str) -> bool:
    field = struct.field(name)
    return field is not None and field.type in ("size_t", "int")


def _conjunction(first: str, second: str) -> str:
    return " && ".join(dict.fromkeys(guard for guard in (first, second) if guard != "true")) or "true"
