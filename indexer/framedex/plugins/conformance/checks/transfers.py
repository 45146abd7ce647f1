"""Asynchronous transfers from the host: managers that receive data in chunks."""

import ctypes
import threading
from collections.abc import Sequence

from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    F32,
    Client,
    Execution,
    build_tiled_layout,
    expect,
    expect_equal,
    expect_error,
    pack_floats,
    pack_int64s,
)
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import make_named_values

_PREFIX = "PJRT_AsyncHostToDeviceTransferManager_"
_CREATE = "PJRT_Client_CreateBuffersForAsyncHostToDevice"


def _manager(client: Client, *shapes: Sequence[int]) -> int:
    """A manager for buffers of F32."""
    size = 40
    specs = (ctypes.c_char * (size * len(shapes)))()
    client.alive.append(specs)
    for i, dims in enumerate(shapes):
        spec = Struct("PJRT_ShapeSpec", at=ctypes.addressof(specs) + i * size)
        spec.struct_size, spec.dims, spec.num_dims, spec.element_type = 36, pack_int64s(dims), len(dims), F32
        client.alive.append(spec)
    manager: int = client.call(
        _CREATE, client=client.handle, shape_specs=specs, num_shape_specs=len(shapes),
        memory=client.default_memory(client.device),
    ).transfer_manager  # fmt: skip
    return manager


def _send(
    client: Client, manager: int, content: bytes, *, index: int = 0, offset: int = 0, is_last: bool = True
) -> int:
    """Send a chunk, and return its event."""
    data = ctypes.create_string_buffer(content, max(len(content), 1))
    client.alive.append(data)
    event: int = client.call(
        f"{_PREFIX}TransferData", transfer_manager=manager, buffer_index=index, data=data, offset=offset,
        transfer_size=len(content), is_last_transfer=is_last,
    ).done_with_h2d_transfer  # fmt: skip
    return event


def _buffer(client: Client, manager: int, index: int = 0) -> int:
    buffer: int = client.call(f"{_PREFIX}RetrieveBuffer", transfer_manager=manager, buffer_index=index).buffer_out
    return buffer


@check(_CREATE, f"{_PREFIX}TransferData", f"{_PREFIX}RetrieveBuffer")
def one_chunk(client: Client) -> None:
    """A buffer that is sent in one chunk has its content."""
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    client.wait(_send(client, manager, pack_floats(1, 2, 3, 4)))
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(f"{_PREFIX}TransferData")
def several_chunks(client: Client) -> None:
    """A buffer that is sent in several chunks has its content."""
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    for offset in (0, 4, 8):
        client.wait(_send(client, manager, pack_floats(offset), offset=offset, is_last=False))
    client.wait(_send(client, manager, pack_floats(12), offset=12))
    expect_equal(client.fetch_floats(buffer), [0, 4, 8, 12], "The content")


@check(f"{_PREFIX}TransferData", "PJRT_Buffer_ReadyEvent")
def pending_before_last_chunk(client: Client) -> None:
    """A buffer is not ready before its last chunk."""
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    event = client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event
    client.wait(_send(client, manager, pack_floats(1, 2), is_last=False))
    expect(not client.call("PJRT_Event_IsReady", event=event).is_ready, "The buffer is ready before its last chunk.")
    client.wait(_send(client, manager, pack_floats(3, 4), offset=8))
    client.wait(event)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(_CREATE, f"{_PREFIX}BufferCount")
def several_buffers(client: Client) -> None:
    """A manager fills each of several buffers."""
    manager = _manager(client, [2], [3])
    count = client.call(f"{_PREFIX}BufferCount", transfer_manager=manager).buffer_count
    expect_equal(count, 2, "buffer_count")
    buffers = [_buffer(client, manager, index) for index in (0, 1)]
    client.wait(_send(client, manager, pack_floats(3, 4, 5), index=1))
    client.wait(_send(client, manager, pack_floats(1, 2), index=0))
    expect_equal([client.fetch_floats(each) for each in buffers], [[1, 2], [3, 4, 5]], "The contents")


@check(f"{_PREFIX}BufferSize")
def buffer_size(client: Client) -> None:
    """A manager knows the size of its buffers."""
    size = client.call(f"{_PREFIX}BufferSize", transfer_manager=_manager(client, [2, 3]), buffer_index=0).buffer_size
    expect_equal(size, 24, "buffer_size")


@check(f"{_PREFIX}Device")
def device(client: Client) -> None:
    """A manager knows its device."""
    found = client.call(f"{_PREFIX}Device", transfer_manager=_manager(client, [4])).device_out
    expect_equal(found, client.device, "The device")


@check(f"{_PREFIX}SetBufferError")
def error(client: Client) -> str:
    """A buffer with an error from its manager has that error."""
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    client.call(
        f"{_PREFIX}SetBufferError", transfer_manager=manager, buffer_index=0, error_code=13,
        error_message=b"on purpose", error_message_size=10,
    )  # fmt: skip
    return expect_error(lambda: client.wait_ready(buffer))


@check(f"{_PREFIX}AddMetadata")
def metadata(client: Client) -> None:
    """A manager accepts metadata of its transfer."""
    values = make_named_values({"name": "weights", "owner": "conformance"})
    client.call(
        f"{_PREFIX}AddMetadata", transfer_manager=_manager(client, [4]), transfer_metadata=values, num_metadata=2
    )


@check(f"{_PREFIX}TransferLiteral")
def literal(client: Client) -> None:
    """A manager receives a whole array."""
    manager = _manager(client, [2, 2])
    buffer = _buffer(client, manager)
    data = ctypes.create_string_buffer(pack_floats(1, 2, 3, 4), 16)
    client.alive.append(data)
    found = client.call(
        f"{_PREFIX}TransferLiteral", transfer_manager=manager, buffer_index=0, data=data,
        shape_dims=pack_int64s([2, 2]), shape_num_dims=2, shape_element_type=F32, shape_layout=build_tiled_layout(1, 0),
    )  # fmt: skip
    client.wait(found.done_with_h2d_transfer)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(f"{_PREFIX}Destroy")
def destroy_after_use(client: Client) -> None:
    """A buffer outlives its manager."""
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    client.wait(_send(client, manager, pack_floats(1, 2, 3, 4)))
    client.call(f"{_PREFIX}Destroy", transfer_manager=manager)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(f"{_PREFIX}Destroy")
def destroy_unused(client: Client) -> None:
    """A manager without any transfer can be destroyed."""
    client.call(f"{_PREFIX}Destroy", transfer_manager=_manager(client, [4]))


@check(f"{_PREFIX}RetrieveBuffer")
def unknown_buffer(client: Client) -> str:
    """A buffer index that the manager does not have is an error."""
    manager = _manager(client, [4])
    return expect_error(lambda: _buffer(client, manager, 7))


@check(f"{_PREFIX}TransferData", "PJRT_LoadedExecutable_Execute")
def argument_before_transfer(client: Client) -> None:
    """A program can be started with a buffer whose transfer has not ended."""
    loaded, other = client.add, client.floats(10, 20, 30, 40)
    manager = _manager(client, [4])
    buffer = _buffer(client, manager)
    started: list[Execution] = []
    thread = threading.Thread(target=lambda: started.append(client.start(loaded, [[buffer, other]], outputs=1)))
    thread.start()
    client.wait(_send(client, manager, pack_floats(1, 2, 3, 4)))
    thread.join()
    expect(started, "The execution did not start.")
    expect_equal(client.fetch_floats(started[0].results[0][0]), [11, 22, 33, 44], "The result")
