"""Devices, their descriptions and statistics."""

import ctypes

from framedex.plugins.conformance.client import Client, expect, expect_equal
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import UnsupportedError, read_named_values, read_text

_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@check("PJRT_Device_GetDescription")
def description(client: Client) -> None:
    """Each device has a description of its own."""
    found = [client.description(device) for device in client.devices]
    expect(0 not in found, "A description is a null pointer.")
    expect_equal(len(set(found)), len(found), "The number of distinct descriptions")


@check("PJRT_DeviceDescription_Id")
def ids(client: Client) -> str:
    """Ids of devices are unique and not negative."""
    found = [client.device_id(device) for device in client.devices]
    expect(len(set(found)) == len(found) and min(found) >= 0, f"The ids are {found}.")
    return str(found)


@check("PJRT_DeviceDescription_ProcessIndex", "PJRT_Client_ProcessIndex")
def process_index(client: Client) -> None:
    """An addressable device has the process index of the client."""
    own = client.call("PJRT_Client_ProcessIndex", client=client.handle).process_index
    found = client.call("PJRT_DeviceDescription_ProcessIndex", device_description=client.description(client.device))
    expect_equal(found.process_index, own, "The device's process_index")


@check("PJRT_DeviceDescription_Attributes")
def description_attributes(client: Client) -> str:
    """The attributes of a description have names and values."""
    found = client.call("PJRT_DeviceDescription_Attributes", device_description=client.description(client.device))
    return ", ".join(read_named_values(found.attributes, found.num_attributes))


@check("PJRT_DeviceDescription_Attributes", "PJRT_Device_GetAttributes")
def coordinates(client: Client) -> str:
    """`coords` is a list of integers, where a device has it."""
    found = client.call("PJRT_DeviceDescription_Attributes", device_description=client.description(client.device))
    values = read_named_values(found.attributes, found.num_attributes)
    if "coords" not in values:
        raise UnsupportedError("It has no attribute coords.")
    expect(isinstance(values["coords"], list), f"coords is {values['coords']!r}.")
    return str(values["coords"])


@check("PJRT_DeviceDescription_Kind")
def kind(client: Client) -> str:
    """A device has a kind."""
    found = client.call("PJRT_DeviceDescription_Kind", device_description=client.description(client.device))
    name = read_text(found.device_kind, found.device_kind_size)
    expect(name, "The kind is empty.")
    return name


@check("PJRT_DeviceDescription_DebugString")
def debug_string(client: Client) -> str:
    """A description has a text for debugging."""
    found = client.call("PJRT_DeviceDescription_DebugString", device_description=client.description(client.device))
    return read_text(found.debug_string, found.debug_string_size)


@check("PJRT_DeviceDescription_ToString")
def to_string(client: Client) -> str:
    """A description has a text for users."""
    found = client.call("PJRT_DeviceDescription_ToString", device_description=client.description(client.device))
    return read_text(found.to_string, found.to_string_size)


@check("PJRT_Device_IsAddressable")
def is_addressable(client: Client) -> None:
    """Every device in the list of addressable devices is addressable."""
    for device in client.devices:
        expect(client.call("PJRT_Device_IsAddressable", device=device).is_addressable, "is_addressable is false.")


@check("PJRT_Device_LocalHardwareId")
def local_hardware_ids(client: Client) -> str:
    """Local hardware ids are unique within a process, or -1."""
    found = [client.call("PJRT_Device_LocalHardwareId", device=each).local_hardware_id for each in client.devices]
    known = [each for each in found if each != -1]
    expect_equal(len(set(known)), len(known), "The number of distinct ids")
    return str(found)


@check("PJRT_Device_AddressableMemories")
def memories(client: Client) -> str:
    """A device has at least one memory."""
    found = client.memories(client.device)
    expect(found, "The device has no memory.")
    return ", ".join(map(client.memory_kind, found))


@check("PJRT_Device_DefaultMemory", "PJRT_Device_AddressableMemories")
def default_memory(client: Client) -> str:
    """The default memory of a device is one of its memories."""
    for device in client.devices:
        expect(
            client.default_memory(device) in client.memories(device),
            "The default memory is not a memory of the device.",
        )
    return client.memory_kind(client.default_memory(client.device))


@check("PJRT_Device_MemoryStats")
def memory_statistics(client: Client) -> str:
    """Statistics of the memory are not negative, and the peak is not below the use."""
    found = client.call("PJRT_Device_MemoryStats", device=client.device)
    expect(found.bytes_in_use >= 0, f"bytes_in_use is {found.bytes_in_use}.")
    if found.peak_bytes_in_use_is_set:
        expect(found.peak_bytes_in_use >= found.bytes_in_use, "The peak is below the use.")
    return f"{found.bytes_in_use} bytes in use"


@check("PJRT_Device_MemoryStats", "PJRT_Buffer_Destroy")
def memory_statistics_follow_buffers(client: Client) -> str:
    """`bytes_in_use` grows with a buffer and shrinks with its end."""
    before = client.call("PJRT_Device_MemoryStats", device=client.device).bytes_in_use
    buffer = client.put(bytes(1 << 20))
    client.wait_ready(buffer)
    during = client.call("PJRT_Device_MemoryStats", device=client.device).bytes_in_use
    client.call("PJRT_Buffer_Destroy", buffer=buffer)
    after = client.call("PJRT_Device_MemoryStats", device=client.device).bytes_in_use
    expect(during >= before + (1 << 20), f"1 MiB raised bytes_in_use from {before} to {during}.")
    expect(after < during, f"bytes_in_use is {after} after the end of the buffer.")
    return f"{before}, {during}, {after}"


@check("PJRT_Device_ClearMemoryStats", "PJRT_Device_MemoryStats")
def clear_memory_statistics(client: Client) -> None:
    """PJRT_Device_ClearMemoryStats resets the peak to the use."""
    buffer = client.put(bytes(1 << 20))
    client.call("PJRT_Buffer_Destroy", buffer=buffer)
    client.call("PJRT_Device_ClearMemoryStats", device=client.device)
    found = client.call("PJRT_Device_MemoryStats", device=client.device)
    if found.peak_bytes_in_use_is_set:
        expect(
            found.peak_bytes_in_use < found.bytes_in_use + (1 << 20), f"The peak is still {found.peak_bytes_in_use}."
        )


@check("PJRT_Device_GetAttributes")
def attributes(client: Client) -> str:
    """The attributes of a device have names and values, and a deleter for their memory."""
    found = client.call("PJRT_Device_GetAttributes", device=client.device)
    values = read_named_values(found.attributes, found.num_attributes)
    if found.device_attributes:
        expect(found.attributes_deleter, "The attributes have memory and no deleter.")
        _DELETER(found.attributes_deleter)(found.device_attributes)
    return ", ".join(values)


@check("PJRT_Device_CreateAsyncTrackingEvent", "PJRT_AsyncTrackingEvent_Destroy")
def tracking_event(client: Client) -> None:
    """A tracking event of a device can be created and destroyed."""
    found = client.call(
        "PJRT_Device_CreateAsyncTrackingEvent", device=client.device, description=b"conformance", description_size=11
    )
    if found.event:
        client.call("PJRT_AsyncTrackingEvent_Destroy", event=found.event)


@check("PJRT_Device_PoisonExecution")
def poison_unknown_execution(client: Client) -> str:
    """Poisoning an execution that does not exist reports `poisoned` false, or is an error."""
    found = client.call(
        "PJRT_Device_PoisonExecution", device=client.device, launch_id=12345, error_code=13, error_message=b"poison",
        error_message_size=6,
    )  # fmt: skip
    expect(not found.poisoned, "poisoned is true.")
    return ""
