"""Buffers from host memory: semantics, shapes, strides, alignment."""

import ctypes

from framedex.plugins.conformance import abi
from framedex.plugins.conformance.client import (
    F32,
    SEMANTICS,
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

_PUT = "PJRT_Client_BufferFromHostBuffer"


@check(_PUT, each=SEMANTICS)
def semantics(client: Client, name: str) -> None:
    """A buffer has the host's content under each of the host-buffer semantics."""
    aligned = _aligned(pack_floats(1, 2, 3, 4))
    buffer = client.start_put(aligned, F32, [4], host_buffer_semantics=SEMANTICS[name]).buffer
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(_PUT)
def immutable_only_during_call(client: Client) -> None:
    """With ImmutableOnlyDuringCall the host may change its memory after the call."""
    memory = _aligned(pack_floats(1, 2, 3, 4))
    started = client.start_put(memory, F32, [4], host_buffer_semantics=SEMANTICS["ImmutableOnlyDuringCall"])
    ctypes.memset(memory, 0, 16)
    client.wait(started.done_with_host_buffer)
    expect_equal(client.fetch_floats(started.buffer), [1, 2, 3, 4], "The content")


@check(_PUT)
def immutable_until_transfer_completes(client: Client) -> None:
    """With ImmutableUntilTransferCompletes the host may change its memory after `done_with_host_buffer`."""
    memory = _aligned(pack_floats(*range(4096)))
    started = client.start_put(memory, F32, [4096], host_buffer_semantics=SEMANTICS["ImmutableUntilTransferCompletes"])
    client.wait(started.done_with_host_buffer)
    ctypes.memset(memory, 0, 4096 * 4)
    expect_equal(client.fetch_floats(started.buffer), [float(each) for each in range(4096)], "The content")


@check(_PUT)
def done_with_zero_copy(client: Client) -> None:
    """With ImmutableZeroCopy `done_with_host_buffer` becomes ready at the latest when the buffer is destroyed."""
    memory = _aligned(pack_floats(1, 2, 3, 4))
    started = client.start_put(memory, F32, [4], host_buffer_semantics=SEMANTICS["ImmutableZeroCopy"])
    client.wait_ready(started.buffer)
    client.call("PJRT_Buffer_Destroy", buffer=started.buffer)
    client.wait(started.done_with_host_buffer)


@check(_PUT, each=(1, 2, 3))
def unaligned(client: Client, offset: int) -> None:
    """Host memory may have any alignment."""
    room = ctypes.create_string_buffer(bytes(offset) + pack_floats(1, 2, 3, 4), 16 + offset)
    client.alive.append(room)
    buffer = client.put(b"", F32, [4], data=ctypes.addressof(room) + offset)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4], "The content")


@check(_PUT)
def scalar(client: Client) -> None:
    """A scalar has no dimensions; `dims` may be null."""
    buffer = client.put(pack_floats(7), F32, [])
    expect_equal(client.dims(buffer), [], "The dimensions")
    expect_equal(client.fetch_floats(buffer), [7.0], "The content")


@check(_PUT, each=((0,), (3, 0), (0, 5, 2)))
def zero_size(client: Client, *dims: int) -> None:
    """A dimension may be 0: the buffer has no elements, and its memory may be null."""
    buffer = client.put(b"", F32, dims)
    expect_equal(client.dims(buffer), list(dims), "The dimensions")
    expect_equal(client.fetch(buffer), b"", "The content")


@check(_PUT)
def zero_size_null_data(client: Client) -> None:
    """`data` of a buffer without elements may be null."""
    buffer = client.put(b"", F32, [0], data=None)
    expect_equal(client.fetch(buffer), b"", "The content")


@check(_PUT, each=(1, 2, 4, 6, 8))
def many_dimensions(client: Client, rank: int) -> None:
    """A buffer may have many dimensions."""
    content = pack_floats(*range(2**rank))
    buffer = client.put(content, F32, [2] * rank)
    expect_equal(client.dims(buffer), [2] * rank, "The dimensions")
    expect_equal(client.fetch(buffer), content, "The content")


@check(_PUT, each=(1, 16, 64))
def large(client: Client, mebibytes: int) -> None:
    """A large buffer keeps its content."""
    content = bytes(range(256)) * (mebibytes * 4096)
    buffer = client.put(content, abi.read_enumerators("PJRT_Buffer_Type")["U8"], [len(content)])
    expect(client.fetch(buffer, len(content)) == content, "The content differs.")


@check(_PUT)
def row_major_strides(client: Client) -> None:
    """Strides of a row-major array are accepted."""
    strides = pack_int64s([12, 4])
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3], byte_strides=strides, num_byte_strides=2)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4, 5, 6], "The content")


@check(_PUT)
def column_major_strides(client: Client) -> None:
    """Strides of a transposed array transpose it."""
    strides = pack_int64s([4, 8])
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3], byte_strides=strides, num_byte_strides=2)
    expect_equal(client.fetch_floats(buffer), [1, 3, 5, 2, 4, 6], "The content")


@check(_PUT)
def padded_strides(client: Client) -> None:
    """Strides may skip bytes between rows, or the call is an error."""
    strides = pack_int64s([16, 4])
    content = pack_floats(1, 2, 3, -1, 4, 5, 6, -1)

    def transfer() -> None:
        buffer = client.put(content, F32, [2, 3], byte_strides=strides, num_byte_strides=2)
        expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4, 5, 6], "The content")

    read_outcome(transfer, "INVALID_ARGUMENT")


@check(_PUT)
def default_strides(client: Client) -> None:
    """Without strides the array is row-major."""
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [3, 2], byte_strides=None, num_byte_strides=0)
    expect_equal(client.fetch_floats(buffer), [1, 2, 3, 4, 5, 6], "The content")


@check(_PUT, "PJRT_Buffer_ToHostBuffer")
def device_layout(client: Client) -> None:
    """A buffer with a chosen layout on the device keeps its logical content, or the layout is an error."""

    def transfer() -> None:
        buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3], device_layout=build_tiled_layout(0, 1))
        found = client.fetch(buffer, 24, host_layout=build_tiled_layout(1, 0))
        expect_equal(found, pack_floats(1, 2, 3, 4, 5, 6), "The content")

    read_outcome(transfer, "INVALID_ARGUMENT")


@check(_PUT, "PJRT_Buffer_ToHostBuffer")
def host_layout(client: Client) -> None:
    """PJRT_Buffer_ToHostBuffer writes in the order of `host_layout`."""
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3])
    found = client.fetch(buffer, 24, host_layout=build_tiled_layout(0, 1))
    expect_equal(found, pack_floats(1, 4, 2, 5, 3, 6), "The content")


@check(_PUT)
def invalid_type(client: Client) -> str:
    """An unknown element type is an error."""
    return expect_error(lambda: client.start_put(pack_floats(1), 9999, [1]))


@check(_PUT)
def negative_dimension(client: Client) -> str:
    """A negative dimension is an error."""
    return expect_error(lambda: client.start_put(pack_floats(1), F32, [-1]))


@check(_PUT)
def each_device(client: Client) -> None:
    """Buffers on several devices are independent."""
    buffers = [client.floats(float(number), device=device) for number, device in enumerate(client.devices)]
    for number, buffer in enumerate(buffers):
        expect_equal(client.fetch_floats(buffer), [float(number)], f"The content on device {number}")


@check(_PUT)
def memory_before_device(client: Client) -> None:
    """With a memory, `device` may be null."""
    buffer = client.floats(1.0, memory=client.default_memory(client.device), device=None)
    expect_equal(client.fetch_floats(buffer), [1.0], "The content")


def _aligned(content: bytes) -> ctypes.Array[ctypes.c_char]:
    """Host memory at an address that is a multiple of 64, as zero-copy needs it."""
    room = bytearray(len(content) + 64)
    start = -ctypes.addressof((ctypes.c_char * 1).from_buffer(room)) % 64
    room[start : start + len(content)] = content
    return (ctypes.c_char * len(content)).from_buffer(room, start)
