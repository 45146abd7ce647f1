"""Clients of other versions: smaller and larger structs."""

from typing import Any

from framedex.plugins.conformance import abi, programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    F32,
    Client,
    build_tiled_layout,
    expect_equal,
    pack_floats,
    pack_int64s,
    read_outcome,
)
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import make_named_values


def _values(client: Client, name: str) -> dict[str, Any]:
    """Arguments of a call that succeeds."""
    if name in ("PJRT_Client_PlatformName", "PJRT_Client_Devices", "PJRT_Client_AddressableMemories"):
        return {"client": client.handle}
    if name.startswith("PJRT_DeviceDescription_"):
        return {"device_description": client.description(client.device)}
    if name.startswith("PJRT_Device_"):
        return {"device": client.device}
    if name.startswith("PJRT_Memory_"):
        return {"memory": client.default_memory(client.device)}
    if name.startswith("PJRT_Buffer_"):
        return {"buffer": client.floats(1.0)}
    if name.startswith("PJRT_Executable_"):
        return {"executable": client.executable(client.add)}
    return {"executable": client.add}


_GETTERS = (
    "PJRT_Client_PlatformName", "PJRT_Client_Devices", "PJRT_Client_AddressableMemories", "PJRT_DeviceDescription_Id",
    "PJRT_DeviceDescription_Attributes", "PJRT_Device_GetDescription", "PJRT_Device_MemoryStats", "PJRT_Memory_Kind",
    "PJRT_Buffer_Dimensions", "PJRT_Buffer_IsDeleted", "PJRT_Executable_NumOutputs",
    "PJRT_Executable_GetCompiledMemoryStats", "PJRT_LoadedExecutable_AddressableDevices",
)  # fmt: skip


@check(*_GETTERS, each=_GETTERS)
def newer_client(client: Client, name: str) -> None:
    """A larger struct, from a client with a newer header, is served."""
    size = abi.read_layout(abi.functions()[name].arguments).struct_size or 0
    client.call(name, struct_size=size + 16, **_values(client, name))


@check("PJRT_Executable_GetCompiledMemoryStats", stage=Stage.PROGRAM, each=(47, 73, 90, 104))
def older_memory_statistics(client: Client, minor: int) -> str:
    """The smaller statistics of an older client are served, or an error; nothing is written behind their end."""
    size = abi.read_layout("PJRT_Executable_GetCompiledMemoryStats_Args").size_at(minor)
    executable = client.executable(client.add)
    return read_outcome(
        lambda: client.call("PJRT_Executable_GetCompiledMemoryStats", struct_size=size, executable=executable),
        "INVALID_ARGUMENT",
    )


@check("PJRT_Executable_DeserializeAndLoad", stage=Stage.PROGRAM, each=(47, 73))
def older_load(client: Client, minor: int) -> str:
    """The smaller struct of an older client that loads an executable is served, or an error."""
    found = client.call("PJRT_Executable_Serialize", executable=client.executable(client.add))
    size = abi.read_layout("PJRT_Executable_DeserializeAndLoad_Args").size_at(minor)
    return read_outcome(
        lambda: client.call(
            "PJRT_Executable_DeserializeAndLoad",
            struct_size=size,
            client=client.handle,
            serialized_executable=found.serialized_bytes,
            serialized_executable_size=found.serialized_bytes_size,
        ),
        "INVALID_ARGUMENT",
    )


@check("PJRT_Client_CreateErrorBuffer")
def older_error_buffer(client: Client) -> str:
    """PJRT_Client_CreateErrorBuffer of a client without payloads is served, or an error."""
    size = abi.read_layout("PJRT_Client_CreateErrorBuffer_Args").size_at(85)
    return read_outcome(
        lambda: client.call(
            "PJRT_Client_CreateErrorBuffer",
            struct_size=size,
            client=client.handle,
            error_code=13,
            error_message=b"x",
            error_message_size=1,
            shape_dims=pack_int64s([4]),
            shape_num_dims=1,
            shape_element_type=F32,
            shape_layout=build_tiled_layout(0),
            memory=client.default_memory(client.device),
        ),
        "INVALID_ARGUMENT",
    )


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM, each=(56, 72, 80, 88, 112, 121, 136))
def execute_options(client: Client, size: int) -> str:
    """Execute options of an older client are served, or an error."""
    arguments = [client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]
    options = Struct("PJRT_ExecuteOptions", struct_size=size)

    def run() -> None:
        [[result]] = client.run(client.add, [arguments], options=options)
        expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")

    return read_outcome(run, "INVALID_ARGUMENT")


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def larger_execute_options(client: Client) -> None:
    """Execute options of a newer client are served."""
    arguments = [client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]
    size = (abi.read_layout("PJRT_ExecuteOptions").struct_size or 0) + 24
    options = Struct("PJRT_ExecuteOptions", struct_size=size)
    [[result]] = client.run(client.add, [arguments], options=options)
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check("PJRT_Client_Create")
def older_client_create(client: Client) -> str:
    """PJRT_Client_Create of a client without `kv_try_get_callback` is served, or an error."""
    size = abi.read_layout("PJRT_Client_Create_Args").size_at(47)
    options = make_named_values({})
    return read_outcome(
        lambda: client.call("PJRT_Client_Create", struct_size=size, create_options=options, num_options=0)
    )


@check("PJRT_Client_BufferFromHostBuffer")
def newer_put(client: Client) -> None:
    """PJRT_Client_BufferFromHostBuffer of a newer client is served."""
    size = (abi.read_layout("PJRT_Client_BufferFromHostBuffer_Args").struct_size or 0) + 32
    buffer = client.put(pack_floats(1, 2), F32, [2], struct_size=size)
    expect_equal(client.fetch_floats(buffer), [1, 2], "The content")


@check("PJRT_Client_CreateViewOfDeviceBuffer")
def older_view(client: Client) -> str:
    """PJRT_Client_CreateViewOfDeviceBuffer of a client without `memory` is served, or an error."""
    source = client.floats(1, 2, 3, 4)
    client.wait_ready(source)
    pointer = client.call("PJRT_Buffer_OpaqueDeviceMemoryDataPointer", buffer=source).device_memory_ptr
    size = abi.read_layout("PJRT_Client_CreateViewOfDeviceBuffer_Args").size_at(47)

    def create() -> None:
        view = client.call(
            "PJRT_Client_CreateViewOfDeviceBuffer", struct_size=size, client=client.handle, device_buffer_ptr=pointer,
            dims=pack_int64s([4]), num_dims=1, element_type=F32, layout=None, device=client.device,
        ).buffer  # fmt: skip
        expect_equal(client.fetch_floats(view), [1, 2, 3, 4], "The content")

    return read_outcome(create)


@check("PJRT_Client_Compile")
def newer_program(client: Client) -> None:
    """A program struct of a newer client is served."""
    program = client.program(programs.ADD)
    larger = Struct(
        "PJRT_Program", struct_size=64, code=program.code, code_size=program.code_size, format=program.format,
        format_size=program.format_size,
    )  # fmt: skip
    client.alive += [program, larger]
    options = client.default_options()
    client.call(
        "PJRT_Client_Compile", client=client.handle, program=larger, compile_options=options,
        compile_options_size=len(options),
    )  # fmt: skip
