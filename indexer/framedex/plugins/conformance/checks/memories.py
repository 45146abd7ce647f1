"""Memories of devices."""

import ctypes

from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import Client, expect, expect_equal
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import read_addresses, read_text


@check("PJRT_Memory_Id")
def ids(client: Client) -> str:
    """Ids of memories are unique."""
    found = client.call("PJRT_Client_AddressableMemories", client=client.handle)
    memories = read_addresses(found.addressable_memories, found.num_addressable_memories)
    identifiers = [client.call("PJRT_Memory_Id", memory=memory).id for memory in memories]
    expect_equal(len(set(identifiers)), len(identifiers), "The number of distinct ids")
    return str(identifiers)


@check("PJRT_Memory_Kind")
def kinds(client: Client) -> str:
    """Kinds of memories of a device are unique and not empty."""
    found = [client.memory_kind(memory) for memory in client.memories(client.device)]
    expect("" not in found, "A kind is empty.")
    expect_equal(len(set(found)), len(found), "The number of distinct kinds")
    return ", ".join(found)


@check("PJRT_Memory_Kind_Id")
def kind_ids(client: Client) -> None:
    """Memories with the same kind have the same kind id."""
    found: dict[str, set[int]] = {}
    for device in client.devices:
        for memory in client.memories(device):
            number = client.call("PJRT_Memory_Kind_Id", memory=memory).kind_id
            found.setdefault(client.memory_kind(memory), set()).add(number)
    several = {kind: numbers for kind, numbers in found.items() if len(numbers) > 1}
    expect(not several, f"Kinds with several ids: {several}.")


@check("PJRT_Memory_DebugString")
def debug_string(client: Client) -> str:
    """A memory has a text for debugging."""
    found = client.call("PJRT_Memory_DebugString", memory=client.default_memory(client.device))
    return read_text(found.debug_string, found.debug_string_size)


@check("PJRT_Memory_ToString")
def to_string(client: Client) -> str:
    """A memory has a text for users."""
    found = client.call("PJRT_Memory_ToString", memory=client.default_memory(client.device))
    return read_text(found.to_string, found.to_string_size)


@check("PJRT_Memory_AddressableByDevices", "PJRT_Device_AddressableMemories")
def devices(client: Client) -> None:
    """A memory names each device that lists it."""
    for device in client.devices:
        for memory in client.memories(device):
            found = client.call("PJRT_Memory_AddressableByDevices", memory=memory)
            expect(device in read_addresses(found.devices, found.num_devices), "A memory does not name its device.")


@check("PJRT_Memory_Kind")
def function_table(client: Client) -> str:
    """Since 0.105 a memory starts with a table of its own functions, which keep a client's data."""
    if client.plugin.minor < 105:
        return "before 0.105"
    memory = client.default_memory(client.device)
    table = ctypes.c_uint64.from_address(memory).value
    expect(table, "The pointer to the memory's functions is null.")
    functions = Struct("PJRT_Memory_FunctionTable", at=table)
    expect(functions.get_user_data and functions.set_user_data, "get_user_data or set_user_data is null.")
    key, value = ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)
    get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(functions.get_user_data)
    put = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    client.alive += [key, value]
    expect_equal(get(memory, ctypes.addressof(key)), None, "The data before it was set")
    put(functions.set_user_data)(memory, ctypes.addressof(key), ctypes.addressof(value), None)
    expect_equal(get(memory, ctypes.addressof(key)), ctypes.addressof(value), "The data after it was set")
    return ""


def _other_kinds(client: Client) -> list[int]:
    default = client.default_memory(client.device)
    return [memory for memory in client.memories(client.device) if memory != default]


@check("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_Memory")
def put_into_each(client: Client) -> str:
    """A buffer can be put into each memory of a device, and reports that memory."""
    for memory in client.memories(client.device):
        buffer = client.floats(1.0, 2.0, memory=memory)
        expect_equal(client.call("PJRT_Buffer_Memory", buffer=buffer).memory, memory, "The buffer's memory")
        expect_equal(client.fetch_floats(buffer), [1.0, 2.0], "The content")
    return ", ".join(map(client.memory_kind, client.memories(client.device)))


@check("PJRT_Buffer_CopyToMemory")
def copy_to_each(client: Client) -> None:
    """PJRT_Buffer_CopyToMemory copies a buffer into each other memory of its device."""
    source = client.floats(3.0, 4.0)
    for memory in _other_kinds(client) or client.memories(client.device):
        copied = client.call("PJRT_Buffer_CopyToMemory", buffer=source, dst_memory=memory).dst_buffer
        expect_equal(client.fetch_floats(copied), [3.0, 4.0], f"The copy in {client.memory_kind(memory)}")


@check("PJRT_Buffer_CopyToMemory")
def copy_to_other_device(client: Client) -> None:
    """PJRT_Buffer_CopyToMemory copies a buffer into the memory of another device."""
    first, second = client.need_devices(2)
    source = client.floats(5.0, device=first)
    target = client.default_memory(second)
    copied = client.call("PJRT_Buffer_CopyToMemory", buffer=source, dst_memory=target).dst_buffer
    expect_equal(client.fetch_floats(copied), [5.0], "The copy")
    expect_equal(client.call("PJRT_Buffer_Memory", buffer=copied).memory, target, "The memory of the copy")
