"""Relations between the runtime's objects, and their release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import layer
from .handles import Handle
from .table_calls import call_table

# The functions that destroy objects which the caller owns, with the argument that takes the object. Topologies are
# missing because a client owns some of them.
_ENDED_BY = {
    "PJRT_AsyncHostToDeviceTransferManager": ("PJRT_AsyncHostToDeviceTransferManager_Destroy", "transfer_manager"),
    "PJRT_AsyncTrackingEvent": ("PJRT_AsyncTrackingEvent_Destroy", "event"),
    "PJRT_Buffer": ("PJRT_Buffer_Destroy", "buffer"),
    "PJRT_Client": ("PJRT_Client_Destroy", "client"),
    "PJRT_Event": ("PJRT_Event_Destroy", "event"),
    "PJRT_Executable": ("PJRT_Executable_Destroy", "executable"),
    "PJRT_ExecuteContext": ("PJRT_ExecuteContext_Destroy", "context"),
    "PJRT_LoadedExecutable": ("PJRT_LoadedExecutable_Destroy", "executable"),
}


def client_of(device: Handle) -> Handle:
    """The client that owns a device. Raises RuntimeError if framedex did not see the client's creation."""
    for client in _clients():
        if device in _devices(client):
            return client
    raise RuntimeError(f"the client of {device} is unknown: it was not created through framedex's table")


def addressable_devices() -> tuple[Handle, ...]:
    """The devices of this process across all clients. Raises Failed."""
    return tuple(device for client in _clients() for device in _devices(client))


def devices_of(loaded: Handle) -> tuple[Handle, ...]:
    """The devices of this process on which a loaded program runs. Raises Failed."""
    devices: tuple[Handle, ...] = call_table(
        "PJRT_LoadedExecutable_AddressableDevices", executable=loaded
    ).addressable_devices
    return devices


def memory_of(device: Handle, kind: str) -> Handle | None:
    """A device's memory of this kind; None for the default kind or an unknown one. Raises Failed."""
    if not kind or _kind(call_table("PJRT_Device_DefaultMemory", device=device).memory) == kind:
        return None
    memories: tuple[Handle, ...] = call_table("PJRT_Device_AddressableMemories", device=device).memories
    return next((each for each in memories if _kind(each) == kind), None)


def objects_in(value: Any) -> Iterator[Handle]:
    """Yield the objects in a function's outputs, at any depth."""
    if isinstance(value, Handle):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from objects_in(each)
    elif isinstance(value, tuple):
        for each in value:
            yield from objects_in(each)


def release(objects: Iterable[Handle | None]) -> None:
    """Destroy the objects that we own."""
    for each in objects:
        if each is not None and each.type in _ENDED_BY:
            function, argument = _ENDED_BY[each.type]
            call_table(function, **{argument: each})


def _clients() -> list[Handle]:
    return [Handle("PJRT_Client", address) for address in layer.layer().clients()]


def _devices(client: Handle) -> tuple[Handle, ...]:
    devices: tuple[Handle, ...] = call_table("PJRT_Client_AddressableDevices", client=client).addressable_devices
    return devices


def _kind(memory: Handle) -> str:
    kind: str = call_table("PJRT_Memory_Kind", memory=memory).kind
    return kind
