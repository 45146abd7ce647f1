"""Extensions other than Layouts."""

import ctypes
from typing import Any

from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import Client, expect, expect_equal, expect_error, pack_floats, read_outcome
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import (
    Plugin,
    UnsupportedError,
    read_addresses,
    read_integers,
    read_text,
    take_bytes,
)

_HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


# ---- Memory descriptions


@check("PJRT_DeviceDescription_MemoryDescriptions", "PJRT_MemoryDescription_Kind")
def memory_descriptions(client: Client) -> str:
    """A device description has the kinds of its memories, and the index of the default one."""
    enter = client.plugin.call_extension
    found = enter(
        "MemoryDescriptions", "PJRT_DeviceDescription_MemoryDescriptions",
        device_description=client.description(client.device),
    )  # fmt: skip
    kinds = []
    for each in read_addresses(found.memory_descriptions, found.num_memory_descriptions):
        described = enter("MemoryDescriptions", "PJRT_MemoryDescription_Kind", memory_description=each)
        kinds.append(read_text(described.kind, described.kind_size))
    default = ctypes.c_int64(found.default_memory_index).value
    expect(-1 <= default < len(kinds), f"default_memory_index is {default} of {len(kinds)}.")
    return ", ".join(kinds)


# ---- FFI


@check("PJRT_FFI_Register_Handler", stage=Stage.PLUGIN)
def ffi_handler(plugin: Plugin) -> None:
    """An FFI handler can be registered, or the plug-in says why not."""
    handler = _HANDLER(lambda frame: None)
    _keep.append(handler)
    name, platform = b"framedex_conformance", b"Host"
    read_outcome(  # the handler here answers no metadata query, which XLA refuses
        lambda: plugin.call_extension(
            "FFI", "register_handler", target_name=name, target_name_size=len(name), handler=handler,
            platform_name=platform, platform_name_size=len(platform), traits=0,
        ),
        "INVALID_ARGUMENT", "INTERNAL",
    )  # fmt: skip


@check("PJRT_FFI_UserData_Add", "PJRT_ExecuteContext_Create")
def ffi_user_data(client: Client) -> str:
    """User data of an unknown type is accepted or an error, never a crash."""
    context = client.call("PJRT_ExecuteContext_Create").context
    data = Struct("PJRT_FFI_UserData", type_id=1, data=ctypes.create_string_buffer(8))
    return read_outcome(lambda: client.plugin.call_extension("FFI", "user_data_add", context=context, user_data=data))


_keep: list[object] = []


# ---- Custom partitioner and transformations


@check("PJRT_Register_Batch_Partitionable", stage=Stage.PLUGIN)
def batch_partitionable(plugin: Plugin) -> None:
    """A custom call can be registered as partitionable along its batch."""
    name = b"framedex_conformance"
    plugin.call_extension("Custom_Partitioner", "register_batch_partitionable", name=name, name_size=len(name))


# ---- Profiler


@check(stage=Stage.PLUGIN)
def profiler(plugin: Plugin) -> str:
    """A profiler can be created, started, stopped, read and destroyed."""
    base = plugin.extensions().get("Profiler")
    if base is None:
        raise UnsupportedError("The plug-in has no extension Profiler.")
    table = Struct("PJRT_Profiler_Extension", at=base).profiler_api
    expect(table, "profiler_api is null.")
    functions = Struct("PLUGIN_Profiler_Api", at=table)

    def call(member: str, structure: str, **values: Any) -> Struct:
        arguments = Struct(structure, **values)
        error = _HANDLER(getattr(functions, member))(arguments.address)
        expect(not error, f"{member} returned an error.")
        return arguments

    created = call("create", "PLUGIN_Profiler_Create_Args", options=None, options_size=0).profiler
    call("start", "PLUGIN_Profiler_Start_Args", profiler=created)
    call("stop", "PLUGIN_Profiler_Stop_Args", profiler=created)
    size = call("collect_data", "PLUGIN_Profiler_CollectData_Args", profiler=created).buffer_size_in_bytes
    call("destroy", "PLUGIN_Profiler_Destroy_Args", profiler=created)
    return f"{size} bytes"


# ---- Streams


@check("PJRT_Get_Stream_For_External_Ready_Events", "PJRT_Wait_Until_Buffer_Ready_On_Stream")
def stream(client: Client) -> None:
    """A device has a stream on which a buffer's readiness can be awaited."""
    enter = client.plugin.call_extension
    found = enter("Stream", "get_stream", device=client.device).stream
    enter("Stream", "wait_stream", stream=found, buffer=client.floats(1.0))


# ---- Raw buffers


def _raw(client: Client, buffer: int) -> int:
    client.wait_ready(buffer)
    found = client.plugin.call_extension("RawBuffer", "PJRT_RawBuffer_CreateRawAliasOfBuffer", buffer=buffer)
    return int(found.raw_buffer)


@check("PJRT_RawBuffer_CreateRawAliasOfBuffer", "PJRT_RawBuffer_GetOnDeviceSizeInBytes", "PJRT_RawBuffer_Destroy")
def raw_buffer(client: Client) -> None:
    """A raw alias has the size of its buffer."""
    raw = _raw(client, client.floats(1, 2, 3, 4))
    enter = client.plugin.call_extension
    size = enter("RawBuffer", "PJRT_RawBuffer_GetOnDeviceSizeInBytes", buffer=raw).on_device_size_in_bytes
    expect(size >= 16, f"The size is {size}.")
    enter("RawBuffer", "PJRT_RawBuffer_Destroy", buffer=raw)


@check("PJRT_RawBuffer_GetMemorySpace")
def raw_memory(client: Client) -> None:
    """A raw alias is in the memory of its buffer."""
    raw = _raw(client, client.floats(1, 2, 3, 4))
    found = client.plugin.call_extension("RawBuffer", "PJRT_RawBuffer_GetMemorySpace", buffer=raw).memory_space
    expect_equal(found, client.default_memory(client.device), "The memory")


@check("PJRT_RawBuffer_CopyRawDeviceToHost", "PJRT_RawBuffer_CopyRawHostToDevice")
def raw_copies(client: Client) -> None:
    """A raw alias copies in both directions."""
    buffer = client.floats(1, 2, 3, 4)
    raw = _raw(client, buffer)
    enter = client.plugin.call_extension
    source, room = ctypes.create_string_buffer(pack_floats(9), 4), ctypes.create_string_buffer(16)
    client.wait(
        enter(
            "RawBuffer", "PJRT_RawBuffer_CopyRawHostToDevice", buffer=raw, src=source, offset=4, transfer_size=4
        ).event
    )
    client.wait(
        enter("RawBuffer", "PJRT_RawBuffer_CopyRawDeviceToHost", buffer=raw, dst=room, offset=0, transfer_size=16).event
    )
    expect_equal(room.raw, pack_floats(1, 9, 3, 4), "The content")


@check("PJRT_RawBuffer_GetHostPointer")
def raw_host_pointer(client: Client) -> str:
    """The host pointer of a raw alias is null, or points to its content."""
    raw = _raw(client, client.floats(1, 2, 3, 4))
    pointer = client.plugin.call_extension("RawBuffer", "PJRT_RawBuffer_GetHostPointer", buffer=raw).host_pointer
    if pointer:
        expect_equal(ctypes.string_at(pointer, 16), pack_floats(1, 2, 3, 4), "The content")
    return "not null" if pointer else "null"


# ---- Shardings, phases, metadata


@check(
    "PJRT_Shardings_PJRT_Executable_ParameterShardings",
    "PJRT_Shardings_PJRT_Executable_OutputShardings",
    stage=Stage.PROGRAM,
)
def shardings(client: Client) -> str:
    """A program answers its shardings: none, or one per parameter and per result."""
    enter = client.plugin.call_extension
    program = client.executable(client.add)
    parameters = enter(
        "Shardings",
        "PJRT_Shardings_PJRT_Executable_ParameterShardings",
        executable=program,
        unfilled="shardings sharding_sizes",
    )
    outputs = enter(
        "Shardings",
        "PJRT_Shardings_PJRT_Executable_OutputShardings",
        executable=program,
        unfilled="shardings sharding_sizes",
    )
    expect(parameters.num_parameters in (0, 2), f"num_parameters is {parameters.num_parameters}.")
    expect(outputs.num_outputs in (0, 1), f"num_outputs is {outputs.num_outputs}.")
    return f"{parameters.num_parameters} and {outputs.num_outputs}"


@check("PJRT_PhaseCompile_Get_Compiler", "PJRT_PhaseCompile_Get_PhaseNames", "PJRT_PhaseCompile_Destroy_Compiler",
       stage=Stage.PLUGIN)  # fmt: skip
def phases(plugin: Plugin) -> str:
    """The compiler of phases names them."""
    compiler = plugin.call_extension("PhaseCompile", "phase_compile_get_compiler").phase_compiler
    found = plugin.call_extension("PhaseCompile", "phase_compile_get_phase_names", phase_compiler=compiler)
    sizes = read_integers(found.phase_names_sizes, found.num_phase_names, ctypes.c_size_t)
    names = [
        read_text(at, size)
        for at, size in zip(read_addresses(found.phase_names, found.num_phase_names), sizes, strict=True)
    ]
    plugin.call_extension("PhaseCompile", "phase_compile_destroy_compiler", phase_compiler=compiler)
    return ", ".join(names)


@check(
    "PJRT_ExecutableMetadata_GetExecutableMetadata",
    "PJRT_ExecutableMetadata_DestroySerializedMetadata",
    stage=Stage.PROGRAM,
)
def executable_metadata(client: Client) -> None:
    """The metadata of an executable can be read and destroyed."""
    enter = client.plugin.call_extension
    found = enter("ExecutableMetadata", "get_executable_metadata", executable=client.executable(client.add)).metadata
    enter("ExecutableMetadata", "destroy_serialized_metadata", metadata=found)


# ---- ABI versions


@check("PJRT_Client_RuntimeAbiVersion", "PJRT_RuntimeAbiVersion_PlatformId", "PJRT_RuntimeAbiVersion_Destroy")
def runtime_abi_version(client: Client) -> str:
    """The runtime's ABI version has a platform, and is compatible with itself."""
    enter = client.plugin.call_extension
    own = enter("AbiVersion", "client_runtime_abi_version", client=client.handle).abi_version
    platform = enter("AbiVersion", "runtime_abi_version_platform_id", abi_version=own).platform_id
    enter("AbiVersion", "runtime_abi_version_is_compatible_with_runtime", abi_version=own, other_abi_version=own)
    enter("AbiVersion", "runtime_abi_version_destroy", abi_version=own)
    return f"{platform:#x}"


@check("PJRT_RuntimeAbiVersion_ToProto", "PJRT_RuntimeAbiVersion_FromProto")
def runtime_abi_version_proto(client: Client) -> str:
    """The runtime's ABI version survives serialisation."""
    enter = client.plugin.call_extension
    own = enter("AbiVersion", "client_runtime_abi_version", client=client.handle).abi_version
    proto = enter("AbiVersion", "runtime_abi_version_to_proto", abi_version=own)
    content = take_bytes(
        proto.serialized_proto, proto.serialized_proto_size, proto.serialized_proto_deleter,
        proto.serialized_proto_holder,
    )  # fmt: skip
    again = enter(
        "AbiVersion", "runtime_abi_version_from_proto", serialized_proto=content, serialized_proto_size=len(content)
    )
    enter(
        "AbiVersion",
        "runtime_abi_version_is_compatible_with_runtime",
        abi_version=own,
        other_abi_version=again.abi_version,
    )
    return f"{len(content)} bytes"


@check("PJRT_Executable_GetAbiVersion", "PJRT_ExecutableAbiVersion_ToProto", "PJRT_ExecutableAbiVersion_PlatformId",
       "PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable", stage=Stage.PROGRAM)  # fmt: skip
def executable_abi_version(client: Client) -> str:
    """An executable is compatible with the runtime that compiled it."""
    enter = client.plugin.call_extension
    runtime = enter("AbiVersion", "client_runtime_abi_version", client=client.handle).abi_version
    own = enter("AbiVersion", "executable_get_abi_version", executable=client.executable(client.add)).abi_version
    enter("AbiVersion", "executable_abi_version_platform_id", abi_version=own)
    enter(
        "AbiVersion",
        "runtime_abi_version_is_compatible_with_executable",
        abi_version=runtime,
        executable_abi_version=own,
    )
    proto = enter("AbiVersion", "executable_abi_version_to_proto", abi_version=own)
    enter("AbiVersion", "executable_abi_version_destroy", abi_version=own)
    return f"{proto.serialized_proto_size} bytes"


# ---- Host memory


@check("PJRT_HostAllocator_GetPreferredAlignment", "PJRT_HostAllocator_Allocate", "PJRT_HostAllocator_Free")
def host_allocator(client: Client) -> str:
    """Host memory can be allocated with the preferred alignment, written, and freed."""
    enter = client.plugin.call_extension
    alignment = enter("HostAllocator", "get_preferred_alignment", client=client.handle).preferred_alignment
    found = enter("HostAllocator", "allocate", client=client.handle, size=4096, alignment=alignment).ptr
    expect(found and found % max(alignment, 1) == 0, f"The address {found:#x} is not a multiple of {alignment}.")
    ctypes.memset(found, 1, 4096)
    enter("HostAllocator", "free", client=client.handle, ptr=found)
    return f"alignment {alignment}"


@check("PJRT_HostMemoryAllocator_Allocate")
def host_memory_allocator(client: Client) -> None:
    """Host memory can be allocated, written, and freed with its deleter."""
    found = client.plugin.call_extension(
        "HostMemoryAllocator", "allocate", client=client.handle, size=4096, numa_node=-1
    )
    expect(found.ptr, "The address is null.")
    ctypes.memset(found.ptr, 1, 4096)
    if found.deleter:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(found.deleter)(found.ptr, found.deleter_arg)


# ---- Triton, GPU, cross-host transfers


@check("PJRT_Triton_Compile", stage=Stage.PLUGIN)
def triton_malformed(plugin: Plugin) -> str:
    """A malformed Triton module is an error."""
    return expect_error(
        lambda: plugin.call_extension(
            "Triton",
            "compile",
            module=b"not MLIR",
            module_size=8,
            arch_name=b"sm_90",
            arch_name_size=5,
            num_warps=1,
            num_ctas=1,
            num_stages=1,
        )
    )


@check("PJRT_Gpu_Register_Custom_Call", stage=Stage.PLUGIN)
def gpu_custom_call(plugin: Plugin) -> None:
    """A custom call can be registered."""
    handler = _HANDLER(lambda frame: None)
    _keep.append(handler)
    name = b"framedex_conformance"
    plugin.call_extension(
        "Gpu_Custom_Call", "custom_call", function_name=name, function_name_size=len(name), api_version=0,
        handler_execute=handler,
    )  # fmt: skip


@check("PJRT_Transfers_PJRT_Client_CrossHostSendBuffers")
def cross_host_send_nothing(client: Client) -> str:
    """Sending no buffers to another host does nothing, or is an error."""
    return read_outcome(
        lambda: client.plugin.call_extension(
            "CrossHostTransfers", "PJRT_Transfers_PJRT_Client_CrossHostSendBuffers", client=client.handle,
            num_buffers=0, send_events=None,
        )
    )  # fmt: skip


@check("PJRT_Callback_InvokeCallback", "PJRT_Register_Callback")
def callback(client: Client) -> str:
    """A callback for slice failures can be registered, or the plug-in says why not."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda arguments, user: None)
    client.alive.append(function)
    return read_outcome(
        lambda: client.plugin.call_extension(
            "Callback", "register_callback", client=client.handle, type=1, callback=function
        )
    )


@check("PJRT_Clear_Xla_Transform_Fn", stage=Stage.PLUGIN)
def clear_transform(plugin: Plugin) -> str:
    """Clearing an XLA transformation that was not registered reports that."""
    name = b"framedex_conformance"

    def clear() -> None:
        found = plugin.call_extension(
            "XlaTransform", "clear_xla_transform", stage=0, name=name, name_size=len(name), callbacks=None
        )
        expect(not found.cleared, "cleared is true.")

    return read_outcome(clear)
