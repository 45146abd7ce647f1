"""Conversion between the runtime's buffers and NumPy arrays."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from .element_types import array_bytes, dtype_of, is_smaller_than_a_byte
from .errors import Failed
from .events import await_event
from .handles import Handle
from .objects import client_of
from .table_calls import call_table

if TYPE_CHECKING:
    import numpy

_MOCK = "framedex mock TPU"


def array_of(buffer: Handle, device: Handle) -> numpy.ndarray[Any, Any]:
    """The content of a buffer, once it is ready: a view if this process can read the memory, otherwise a copy.

    Both are read-only. A view is valid while the buffer exists. Raises Failed if the buffer has an error or cannot be
    read, TypeError if NumPy has no matching element type.
    """
    import numpy

    element, dims = (
        call_table("PJRT_Buffer_ElementType", buffer=buffer).type,
        call_table("PJRT_Buffer_Dimensions", buffer=buffer).dims,
    )
    dtype = dtype_of(element)
    await_event(call_table("PJRT_Buffer_ReadyEvent", buffer=buffer).event)
    size = array_bytes(element, dims)
    if not size:
        return numpy.zeros(dims, dtype)
    data: Any
    if _is_dense(buffer, len(dims), element) and _is_of_this_process(buffer, device):
        data = (ctypes.c_char * size).from_address(
            call_table("PJRT_Buffer_UnsafePointer", buffer=buffer).buffer_pointer
        )
    else:
        data = _copy(buffer, len(dims))
    array = numpy.frombuffer(data, dtype, count=size // dtype.itemsize).reshape(dims)
    array.flags.writeable = False
    return array


def buffer_of(array: numpy.ndarray[Any, Any], element: str, device: Handle, memory: Handle | None) -> Handle:
    """Create a buffer with a copy of `array`, in `memory` or in the device's default memory. Raises Failed."""
    import numpy

    dense = numpy.ascontiguousarray(array)
    created = call_table(
        "PJRT_Client_BufferFromHostBuffer",
        client=client_of(device),
        data=dense.ctypes.data,
        type=element,
        dims=array.shape,
        host_buffer_semantics="ImmutableOnlyDuringCall",
        device=device,
        memory=memory,
    )
    await_event(created.done_with_host_buffer)
    buffer: Handle = created.buffer
    return buffer


def _is_dense(buffer: Handle, rank: int, element: str) -> bool:
    """Whether the buffer is dense and row-major, with whole bytes for each element."""
    if is_smaller_than_a_byte(element):
        return False
    try:
        layout = call_table("PJRT_Buffer_GetMemoryLayout", buffer=buffer).layout
    except Failed:  # some plug-ins do not implement it
        return rank < 2
    tiled = layout.get("tiled")
    return tiled is not None and tiled.minor_to_major == _row_major(rank) and not tiled.tile_dims


def _copy(buffer: Handle, rank: int) -> bytearray:
    """Copy the buffer's elements in row-major order, with whole bytes for each element."""
    layout = {"type": "Tiled", "tiled": {"minor_to_major": _row_major(rank)}}
    size = call_table("PJRT_Buffer_ToHostBuffer", src=buffer, host_layout=layout).dst_size
    data = bytearray(size)
    target = ctypes.addressof(ctypes.c_char.from_buffer(data))
    copied = call_table("PJRT_Buffer_ToHostBuffer", src=buffer, host_layout=layout, dst=target, dst_size=size)
    await_event(copied.event)
    return data


def _row_major(rank: int) -> tuple[int, ...]:
    return tuple(reversed(range(rank)))


def _is_of_this_process(buffer: Handle, device: Handle) -> bool:
    """Whether the CPU can read the buffer in place. The mock's device memory is process memory too."""
    if call_table("PJRT_Buffer_IsOnCpu", buffer=buffer).is_on_cpu:
        return True
    version: str = call_table("PJRT_Client_PlatformVersion", client=client_of(device)).platform_version
    return version.startswith(_MOCK)
