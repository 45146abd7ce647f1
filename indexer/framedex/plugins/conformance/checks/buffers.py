"""Buffers: properties, copies, deletion, views and aliases."""

import ctypes

from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    F32,
    S32,
    Client,
    build_tiled_layout,
    expect,
    expect_equal,
    expect_error,
    pack_floats,
    pack_int64s,
    read_outcome,
)
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import BrokenRuleError, UnsupportedError, read_integers

_ON_DELETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def _matrix(client: Client) -> int:
    return client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3])


@check("PJRT_Buffer_ElementType")
def element_type(client: Client) -> None:
    """A buffer has the element type that it was created with."""
    expect_equal(client.call("PJRT_Buffer_ElementType", buffer=_matrix(client)).type, F32, "The type")


@check("PJRT_Buffer_Dimensions")
def dimensions(client: Client) -> None:
    """A buffer has the dimensions that it was created with."""
    expect_equal(client.dims(_matrix(client)), [2, 3], "The dimensions")


@check("PJRT_Buffer_UnpaddedDimensions")
def unpadded_dimensions(client: Client) -> None:
    """The unpadded dimensions of a static buffer are its dimensions."""
    found = client.call("PJRT_Buffer_UnpaddedDimensions", buffer=_matrix(client))
    expect_equal(read_integers(found.unpadded_dims, found.num_dims), [2, 3], "The unpadded dimensions")


@check("PJRT_Buffer_DynamicDimensionIndices")
def dynamic_dimensions(client: Client) -> None:
    """A static buffer has no dynamic dimensions."""
    found = client.call("PJRT_Buffer_DynamicDimensionIndices", buffer=_matrix(client))
    expect_equal(found.num_dynamic_dims, 0, "The number of dynamic dimensions")


@check("PJRT_Buffer_OnDeviceSizeInBytes")
def size_on_device(client: Client) -> str:
    """A buffer takes at least the bytes of its elements on the device."""
    size = client.call("PJRT_Buffer_OnDeviceSizeInBytes", buffer=_matrix(client)).on_device_size_in_bytes
    expect(size >= 24, f"The size is {size}.")
    return f"{size} bytes"


@check("PJRT_Buffer_Device")
def device(client: Client) -> None:
    """A buffer is on the device that it was put on, for each device."""
    for each in client.devices:
        buffer = client.floats(1.0, device=each)
        expect_equal(client.call("PJRT_Buffer_Device", buffer=buffer).device, each, "The device")


@check("PJRT_Buffer_Memory", "PJRT_Device_DefaultMemory")
def memory(client: Client) -> None:
    """A buffer without a chosen memory is in the default memory of its device."""
    found = client.call("PJRT_Buffer_Memory", buffer=client.floats(1.0)).memory
    expect_equal(found, client.default_memory(client.device), "The memory")


@check("PJRT_Buffer_IsOnCpu")
def is_on_cpu(client: Client) -> str:
    """PJRT_Buffer_IsOnCpu has an answer."""
    return str(bool(client.call("PJRT_Buffer_IsOnCpu", buffer=client.floats(1.0)).is_on_cpu))


@check("PJRT_Buffer_ReadyEvent")
def ready_event(client: Client) -> None:
    """The ready event of a transferred buffer becomes ready without an error."""
    client.wait_ready(client.floats(1.0))


@check("PJRT_Buffer_ReadyEvent")
def two_ready_events(client: Client) -> None:
    """Each call of PJRT_Buffer_ReadyEvent returns an event that its caller destroys."""
    buffer = client.floats(1.0)
    first = client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event
    second = client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event
    client.wait(first)
    client.wait(second)


@check("PJRT_Buffer_Delete", "PJRT_Buffer_IsDeleted")
def delete(client: Client) -> None:
    """PJRT_Buffer_Delete drops the content and leaves the object."""
    buffer = client.floats(1.0)
    expect(not client.is_deleted(buffer), "A new buffer is deleted.")
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    expect(client.is_deleted(buffer), "A deleted buffer is not deleted.")
    client.call("PJRT_Buffer_Destroy", buffer=buffer)


@check("PJRT_Buffer_Delete")
def delete_twice(client: Client) -> None:
    """A buffer can be deleted twice."""
    buffer = client.floats(1.0)
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    client.call("PJRT_Buffer_Delete", buffer=buffer)


@check("PJRT_Buffer_Delete", "PJRT_Buffer_ToHostBuffer")
def read_deleted(client: Client) -> str:
    """Reading a deleted buffer is an error, from the call or from its event."""
    buffer = client.floats(1.0)
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    return expect_error(lambda: client.fetch(buffer, 4))


@check("PJRT_Buffer_Delete", "PJRT_Buffer_CopyToDevice")
def copy_deleted(client: Client) -> str:
    """Copying a deleted buffer is an error, from the call or from the copy."""
    first, second = client.need_devices(2)
    buffer = client.floats(1.0, device=first)
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    return expect_error(
        lambda: client.wait_ready(client.call("PJRT_Buffer_CopyToDevice", buffer=buffer, dst_device=second).dst_buffer)
    )


@check("PJRT_Buffer_Dimensions", "PJRT_Buffer_Delete")
def shape_of_deleted(client: Client) -> None:
    """A deleted buffer keeps its shape and type."""
    buffer = _matrix(client)
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    expect_equal(client.dims(buffer), [2, 3], "The dimensions")
    expect_equal(client.call("PJRT_Buffer_ElementType", buffer=buffer).type, F32, "The type")


@check("PJRT_Buffer_Destroy")
def destroy_many(client: Client) -> None:
    """1,000 buffers can be created and destroyed."""
    for _ in range(1000):
        client.call("PJRT_Buffer_Destroy", buffer=client.floats(1.0))


@check("PJRT_Buffer_CopyToDevice")
def copy_to_device(client: Client) -> None:
    """PJRT_Buffer_CopyToDevice copies the content to another device."""
    first, second = client.need_devices(2)
    source = client.floats(1.0, 2.0, device=first)
    copied = client.call("PJRT_Buffer_CopyToDevice", buffer=source, dst_device=second).dst_buffer
    expect_equal(client.fetch_floats(copied), [1.0, 2.0], "The copy")
    expect_equal(client.call("PJRT_Buffer_Device", buffer=copied).device, second, "The device of the copy")


@check("PJRT_Buffer_CopyToDevice", "PJRT_Buffer_Destroy")
def copy_outlives_source(client: Client) -> None:
    """A copy is valid after its source was destroyed."""
    first, second = client.need_devices(2)
    source = client.floats(1.0, 2.0, device=first)
    copied = client.call("PJRT_Buffer_CopyToDevice", buffer=source, dst_device=second).dst_buffer
    client.call("PJRT_Buffer_Destroy", buffer=source)
    expect_equal(client.fetch_floats(copied), [1.0, 2.0], "The copy")


@check("PJRT_Buffer_ToHostBuffer")
def size_query(client: Client) -> None:
    """PJRT_Buffer_ToHostBuffer without `dst` returns the size of the content."""
    found = client.call("PJRT_Buffer_ToHostBuffer", src=_matrix(client), dst=None, unfilled="event")
    expect_equal(found.dst_size, 24, "dst_size")


@check("PJRT_Buffer_ToHostBuffer")
def destination_too_small(client: Client) -> str:
    """A destination that is too small is an error, and nothing is written beyond its end."""
    room = ctypes.create_string_buffer(b"\xa5" * 24, 24)

    def fetch() -> None:
        client.wait(client.call("PJRT_Buffer_ToHostBuffer", src=_matrix(client), dst=room, dst_size=4).event)

    code = expect_error(fetch)
    expect_equal(room.raw[4:], b"\xa5" * 20, "The memory behind the destination")
    return code


@check("PJRT_Buffer_ToHostBuffer")
def larger_destination(client: Client) -> None:
    """A destination that is larger than needed is filled only with the content."""
    room = ctypes.create_string_buffer(b"\xa5" * 64, 64)
    client.wait(client.call("PJRT_Buffer_ToHostBuffer", src=_matrix(client), dst=room, dst_size=64).event)
    expect_equal(room.raw[:24], pack_floats(1, 2, 3, 4, 5, 6), "The content")
    expect_equal(room.raw[24:], b"\xa5" * 40, "The memory behind the content")


@check("PJRT_Buffer_ToHostBuffer")
def unaligned_destination(client: Client) -> None:
    """A destination may have any alignment."""
    room = ctypes.create_string_buffer(64)
    for offset in (1, 3, 5):
        at = ctypes.addressof(room) + offset
        client.wait(client.call("PJRT_Buffer_ToHostBuffer", src=_matrix(client), dst=at, dst_size=24).event)
        expect_equal(room.raw[offset : offset + 24], pack_floats(1, 2, 3, 4, 5, 6), f"The content at offset {offset}")


@check("PJRT_Buffer_CopyRawToHost")
def copy_raw(client: Client) -> None:
    """PJRT_Buffer_CopyRawToHost copies a range of bytes."""
    room = ctypes.create_string_buffer(8)
    buffer = client.floats(1, 2, 3, 4)
    client.wait_ready(buffer)
    client.wait(client.call("PJRT_Buffer_CopyRawToHost", buffer=buffer, dst=room, offset=4, transfer_size=8).event)
    expect_equal(room.raw, pack_floats(2, 3), "The range")


@check("PJRT_Buffer_CopyRawToHost")
def copy_raw_out_of_range(client: Client) -> str:
    """A range beyond the end of the buffer is an error, from the call or from its event."""
    room = ctypes.create_string_buffer(1 << 20)
    buffer = client.floats(1, 2, 3, 4)
    return expect_error(
        lambda: client.wait(
            client.call("PJRT_Buffer_CopyRawToHost", buffer=buffer, dst=room, offset=0, transfer_size=1 << 20).event
        )
    )


@check("PJRT_Buffer_CopyRawToHostFuture")
def copy_raw_future(client: Client) -> None:
    """PJRT_Buffer_CopyRawToHostFuture copies after the client has provided the destination."""
    room = ctypes.create_string_buffer(8)
    buffer = client.floats(1, 2, 3, 4)
    client.wait_ready(buffer)
    found = client.call("PJRT_Buffer_CopyRawToHostFuture", buffer=buffer, offset=4, transfer_size=8)
    arguments = Struct("PJRT_Buffer_CopyRawToHostFuture_Callback_Args", callback_data=found.callback_data, dst=room)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(found.future_ready_callback)(arguments.address)
    client.wait(found.event)
    expect_equal(room.raw, pack_floats(2, 3), "The range")


@check("PJRT_Buffer_UnsafePointer")
def unsafe_pointer(client: Client) -> None:
    """PJRT_Buffer_UnsafePointer returns an address. On a CPU it is the address of the content."""
    buffer = client.floats(1, 2, 3, 4)
    client.wait_ready(buffer)
    pointer = client.call("PJRT_Buffer_UnsafePointer", buffer=buffer).buffer_pointer
    expect(pointer, "The address is null.")
    if client.call("PJRT_Buffer_IsOnCpu", buffer=buffer).is_on_cpu:
        expect_equal(ctypes.string_at(pointer, 16), pack_floats(1, 2, 3, 4), "The content at the address")


@check("PJRT_Buffer_OpaqueDeviceMemoryDataPointer")
def opaque_pointer(client: Client) -> None:
    """PJRT_Buffer_OpaqueDeviceMemoryDataPointer returns an address."""
    buffer = client.floats(1, 2, 3, 4)
    client.wait_ready(buffer)
    expect(client.call("PJRT_Buffer_OpaqueDeviceMemoryDataPointer", buffer=buffer).device_memory_ptr, "It is null.")


@check("PJRT_Buffer_IncreaseExternalReferenceCount", "PJRT_Buffer_DecreaseExternalReferenceCount")
def external_references(client: Client) -> None:
    """External references of a buffer can be added and removed."""
    buffer = client.floats(1.0)
    for _ in range(3):
        client.call("PJRT_Buffer_IncreaseExternalReferenceCount", buffer=buffer)
    for _ in range(3):
        client.call("PJRT_Buffer_DecreaseExternalReferenceCount", buffer=buffer)


@check("PJRT_Buffer_DecreaseExternalReferenceCount")
def too_few_external_references(client: Client) -> str:
    """Removing an external reference that does not exist is an error."""
    buffer = client.floats(1.0)
    return expect_error(lambda: client.call("PJRT_Buffer_DecreaseExternalReferenceCount", buffer=buffer))


@check("PJRT_Buffer_IncreaseExternalReferenceCount", "PJRT_Buffer_Delete")
def memory_of_external_reference(client: Client) -> None:
    """Memory with an external reference stays valid after PJRT_Buffer_Delete."""
    buffer = client.floats(1, 2, 3, 4)
    client.wait_ready(buffer)
    client.call("PJRT_Buffer_IncreaseExternalReferenceCount", buffer=buffer)
    pointer = client.call("PJRT_Buffer_OpaqueDeviceMemoryDataPointer", buffer=buffer).device_memory_ptr
    is_on_cpu = client.call("PJRT_Buffer_IsOnCpu", buffer=buffer).is_on_cpu
    client.call("PJRT_Buffer_Delete", buffer=buffer)
    for _ in range(10):
        client.floats(9, 9, 9, 9)
    if is_on_cpu:
        expect_equal(ctypes.string_at(pointer, 16), pack_floats(1, 2, 3, 4), "The content")
    client.call("PJRT_Buffer_DecreaseExternalReferenceCount", buffer=buffer)


@check("PJRT_Client_CreateViewOfDeviceBuffer", "PJRT_Buffer_OpaqueDeviceMemoryDataPointer")
def view(client: Client) -> None:
    """A view of device memory has its content, and reports its end to `on_delete_callback`."""
    source = client.floats(1, 2, 3, 4)
    client.wait_ready(source)
    pointer = client.call("PJRT_Buffer_OpaqueDeviceMemoryDataPointer", buffer=source).device_memory_ptr
    deleted = []
    callback = _ON_DELETE(lambda memory, argument: deleted.append(memory))
    client.alive.append(callback)
    found = client.call(
        "PJRT_Client_CreateViewOfDeviceBuffer", client=client.handle, device_buffer_ptr=pointer, dims=pack_int64s([4]),
        num_dims=1, element_type=F32, layout=None, device=client.device, on_delete_callback=callback,
    ).buffer  # fmt: skip
    expect_equal(client.fetch_floats(found), [1, 2, 3, 4], "The content of the view")
    client.call("PJRT_Buffer_Destroy", buffer=found)
    expect_equal(len(deleted), 1, "The number of calls of on_delete_callback")


@check("PJRT_Client_CreateUninitializedBuffer")
def uninitialized(client: Client) -> None:
    """An uninitialised buffer has its shape and becomes ready."""
    buffer = client.call(
        "PJRT_Client_CreateUninitializedBuffer", client=client.handle, shape_dims=pack_int64s([2, 3]), shape_num_dims=2,
        shape_element_type=F32, shape_layout=None, device=client.device, memory=None,
    ).buffer  # fmt: skip
    expect_equal(client.dims(buffer), [2, 3], "The dimensions")
    client.wait_ready(buffer)


@check("PJRT_Client_CreateErrorBuffer")
def error_buffer(client: Client) -> str:
    """A buffer with an error has a shape, and its ready event has that error."""
    buffer = client.call(
        "PJRT_Client_CreateErrorBuffer", client=client.handle, error_code=13, error_message=b"on purpose",
        error_message_size=10, shape_dims=pack_int64s([4]), shape_num_dims=1, shape_element_type=F32, shape_layout=None,
        memory=client.default_memory(client.device),
    ).buffer  # fmt: skip
    expect_equal(client.dims(buffer), [4], "The dimensions")
    return expect_error(lambda: client.wait_ready(buffer), "INTERNAL")


@check("PJRT_Client_CreateErrorBuffer", "PJRT_LoadedExecutable_Execute")
def error_buffer_as_argument(client: Client) -> str:
    """A program with an error as argument has that error as result."""
    buffer = client.call(
        "PJRT_Client_CreateErrorBuffer", client=client.handle, error_code=13, error_message=b"on purpose",
        error_message_size=10, shape_dims=pack_int64s([4]), shape_num_dims=1, shape_element_type=F32, shape_layout=None,
        memory=client.default_memory(client.device),
    ).buffer  # fmt: skip
    return expect_error(lambda: client.fetch(client.run(client.add, [[buffer, client.floats(1, 2, 3, 4)]])[0][0]))


def _alias(client: Client) -> Struct:
    return client.call(
        "PJRT_Client_CreateAliasBuffer", client=client.handle, memory=client.default_memory(client.device),
        shape_dims=pack_int64s([4]), shape_num_dims=1, shape_element_type=F32, shape_layout=build_tiled_layout(0),
    )  # fmt: skip


@check("PJRT_Client_CreateAliasBuffer", "PJRT_Client_FulfillAliasBuffer")
def alias(client: Client) -> None:
    """An alias buffer gets the content of the buffer that fulfils it."""
    created = _alias(client)
    client.call(
        "PJRT_Client_FulfillAliasBuffer", client=client.handle, buffer=client.floats(1, 2, 3, 4), status_code=0,
        error_message=None, error_message_size=0, fulfill_alias_buffer_cb=created.fulfill_alias_buffer_cb,
    )  # fmt: skip
    expect_equal(client.fetch_floats(created.alias_buffer), [1, 2, 3, 4], "The content")


@check("PJRT_Client_CreateAliasBuffer", "PJRT_Client_FulfillAliasBuffer")
def alias_with_error(client: Client) -> str:
    """An alias buffer that is fulfilled with an error has that error."""
    created = _alias(client)
    read_outcome(  # XLA returns the error that it was given
        lambda: client.call(
            "PJRT_Client_FulfillAliasBuffer", client=client.handle, buffer=None, status_code=13,
            error_message=b"on purpose", error_message_size=10,
            fulfill_alias_buffer_cb=created.fulfill_alias_buffer_cb,
        ),
        "OK", "INTERNAL",
    )  # fmt: skip
    return expect_error(lambda: client.wait_ready(created.alias_buffer))


@check("PJRT_Buffer_Bitcast")
def bitcast(client: Client) -> None:
    """PJRT_Buffer_Bitcast reinterprets the bytes of a buffer."""
    found = client.call(
        "PJRT_Buffer_Bitcast", buffer=client.floats(1, 2, 3, 4), element_type=S32, dims=pack_int64s([2, 2]), num_dims=2,
        device_layout=None,
    ).out_buffer  # fmt: skip
    expect_equal(client.fetch(found), pack_floats(1, 2, 3, 4), "The content")
    expect_equal(client.dims(found), [2, 2], "The dimensions")


@check("PJRT_Buffer_Bitcast")
def bitcast_to_other_size(client: Client) -> str:
    """A bitcast to a shape of another size is an error."""
    return expect_error(
        lambda: client.call(
            "PJRT_Buffer_Bitcast",
            buffer=client.floats(1, 2, 3, 4),
            element_type=F32,
            dims=pack_int64s([64]),
            num_dims=1,
            device_layout=None,
        )
    )


@check("PJRT_Buffer_DonateWithControlDependency")
def donate_with_dependency(client: Client) -> None:
    """A donated buffer is deleted, and its successor is ready when the dependency is."""
    source = client.floats(1, 2, 3, 4)
    client.wait_ready(source)
    found = client.call("PJRT_Buffer_DonateWithControlDependency", buffer=source)
    expect(client.is_deleted(source), "The donated buffer is not deleted.")
    arguments = Struct(
        "PJRT_Buffer_DonateWithControlDependency_Callback_Args", callback_data=found.callback_data, error_code=0
    )
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(found.dependency_ready_callback)(arguments.address)
    expect_equal(client.fetch_floats(found.out_buffer), [1, 2, 3, 4], "The content")


@check("PJRT_Buffer_GetMemoryLayout")
def memory_layout(client: Client) -> str:
    """The layout of a matrix orders its two dimensions."""
    layout = client.call("PJRT_Buffer_GetMemoryLayout", buffer=_matrix(client)).layout
    if layout.type != 0:
        return "strides"
    found = read_integers(layout.tiled.minor_to_major, layout.tiled.minor_to_major_size)
    if sorted(found) != [0, 1]:
        raise BrokenRuleError(f"minor_to_major is {found}.")
    return str(found)


@check("PJRT_Client_BufferFromHostBuffer", "PJRT_Device_MemoryStats")
def out_of_memory(client: Client) -> str:
    """A buffer that is larger than the device's memory is an error: RESOURCE_EXHAUSTED where the device has a limit."""
    found = client.call("PJRT_Device_MemoryStats", device=client.device)
    if not found.bytes_limit_is_set:
        raise UnsupportedError("The device has no limit.")
    dims = pack_int64s([found.bytes_limit // 4 + 1024])
    return expect_error(
        lambda: client.wait_ready(
            client.call(
                "PJRT_Client_CreateUninitializedBuffer",
                client=client.handle,
                shape_dims=dims,
                shape_num_dims=1,
                shape_element_type=F32,
                shape_layout=None,
                device=client.device,
                memory=None,
            ).buffer
        ),
        "RESOURCE_EXHAUSTED",
    )
