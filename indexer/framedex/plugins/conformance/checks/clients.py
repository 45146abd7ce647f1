"""Clients: creation, platform, look-up of devices."""

import ctypes

from framedex.base import words
from framedex.plugins.conformance import abi
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import Client, expect, expect_equal, expect_error, read_outcome
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import Plugin, make_named_values, read_addresses, read_text


@check("PJRT_Client_Create", "PJRT_Client_PlatformName", "PJRT_Client_PlatformVersion")
def create(client: Client) -> str:
    """PJRT_Client_Create returns a client without options from the caller, or with those of `--option`."""
    expect(client.handle, "PJRT_Client_Create returned OK and a null client.")
    name = client.call("PJRT_Client_PlatformName", client=client.handle)
    return read_text(name.platform_name, name.platform_name_size)


@check("PJRT_Client_PlatformName")
def platform_name(client: Client) -> str:
    """The platform has a name."""
    found = client.call("PJRT_Client_PlatformName", client=client.handle)
    name = read_text(found.platform_name, found.platform_name_size)
    expect(name, "The platform name is empty.")
    return name


@check("PJRT_Client_PlatformVersion")
def platform_version(client: Client) -> str:
    """The platform has a version text."""
    found = client.call("PJRT_Client_PlatformVersion", client=client.handle)
    return read_text(found.platform_version, found.platform_version_size)[:60]


@check("PJRT_Client_PlatformName")
def platform_name_is_stable(client: Client) -> None:
    """A string of the plug-in stays valid for the life of the client."""
    first = client.call("PJRT_Client_PlatformName", client=client.handle)
    before = read_text(first.platform_name, first.platform_name_size)
    client.compile(_TINY)
    expect_equal(
        read_text(first.platform_name, first.platform_name_size), before, "The platform name after a compilation"
    )


_TINY = "module @tiny { func.func public @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }"


@check("PJRT_Client_ProcessIndex")
def process_index(client: Client) -> str:
    """The process index of a single process is 0."""
    index = client.call("PJRT_Client_ProcessIndex", client=client.handle).process_index
    expect_equal(index, 0, "process_index")
    return str(index)


@check("PJRT_Client_Devices")
def devices(client: Client) -> str:
    """The client has at least one device and no duplicates."""
    found = client.call("PJRT_Client_Devices", client=client.handle)
    handles = read_addresses(found.devices, found.num_devices)
    expect(handles, "The client has no device.")
    expect_equal(len(set(handles)), len(handles), "The number of distinct devices")
    return words.count(len(handles), "device")


@check("PJRT_Client_AddressableDevices", "PJRT_Client_Devices")
def addressable_devices(client: Client) -> str:
    """Addressable devices are a part of all devices."""
    found = client.call("PJRT_Client_Devices", client=client.handle)
    every = set(read_addresses(found.devices, found.num_devices))
    expect(client.devices, "The client has no addressable device.")
    expect(set(client.devices) <= every, "An addressable device is not among the devices.")
    return words.count(len(client.devices), "device")


@check("PJRT_Client_AddressableDevices")
def same_devices_twice(client: Client) -> None:
    """Devices keep their addresses for the life of the client."""
    again = client.call("PJRT_Client_AddressableDevices", client=client.handle)
    expect_equal(
        read_addresses(again.addressable_devices, again.num_addressable_devices), client.devices, "The second answer"
    )


@check("PJRT_Client_LookupDevice", "PJRT_DeviceDescription_Id")
def look_up_device(client: Client) -> None:
    """PJRT_Client_LookupDevice finds each device by its id."""
    for device in client.devices:
        found = client.call("PJRT_Client_LookupDevice", client=client.handle, id=client.device_id(device)).device
        expect_equal(found, device, f"The device with id {client.device_id(device)}")


@check("PJRT_Client_LookupDevice")
def look_up_unknown_device(client: Client) -> str:
    """PJRT_Client_LookupDevice returns an error for an unknown id."""
    return expect_error(lambda: client.call("PJRT_Client_LookupDevice", client=client.handle, id=1 << 30))


@check("PJRT_Client_LookupDevice")
def look_up_negative_device(client: Client) -> str:
    """PJRT_Client_LookupDevice returns an error for a negative id."""
    return expect_error(lambda: client.call("PJRT_Client_LookupDevice", client=client.handle, id=-1))


@check("PJRT_Client_LookupAddressableDevice", "PJRT_Device_LocalHardwareId")
def look_up_addressable_device(client: Client) -> None:
    """PJRT_Client_LookupAddressableDevice finds a device by its local hardware id."""
    identifier = client.call("PJRT_Device_LocalHardwareId", device=client.device).local_hardware_id
    found = client.call("PJRT_Client_LookupAddressableDevice", client=client.handle, local_hardware_id=identifier)
    expect_equal(found.addressable_device, client.device, f"The device with local hardware id {identifier}")


@check("PJRT_Client_LookupAddressableDevice")
def look_up_unknown_addressable_device(client: Client) -> str:
    """PJRT_Client_LookupAddressableDevice returns an error for an unknown id."""
    return expect_error(
        lambda: client.call("PJRT_Client_LookupAddressableDevice", client=client.handle, local_hardware_id=1 << 30)
    )


@check("PJRT_Client_AddressableMemories")
def memories(client: Client) -> str:
    """The client lists the memories of its devices."""
    found = client.call("PJRT_Client_AddressableMemories", client=client.handle)
    listed = read_addresses(found.addressable_memories, found.num_addressable_memories)
    owned = {memory for device in client.devices for memory in client.memories(device)}
    expect(owned <= set(listed), "A device has a memory that the client does not list.")
    return f"{len(listed)} memories"


@check("PJRT_Client_DefaultDeviceAssignment")
def default_assignment(client: Client) -> str:
    """The default assignment of one replica is the id of a device."""
    room = (ctypes.c_int * 1)()
    client.call(
        "PJRT_Client_DefaultDeviceAssignment", client=client.handle, num_replicas=1, num_partitions=1,
        default_assignment_size=1, default_assignment=room,
    )  # fmt: skip
    expect(room[0] in [client.device_id(device) for device in client.devices], f"The default device is {room[0]}.")
    return str(room[0])


@check("PJRT_Client_DefaultDeviceAssignment")
def default_assignment_of_two(client: Client) -> str:
    """The default assignment of two replicas has two devices."""
    client.need_devices(2)
    room = (ctypes.c_int * 2)(-1, -1)
    client.call(
        "PJRT_Client_DefaultDeviceAssignment", client=client.handle, num_replicas=2, num_partitions=1,
        default_assignment_size=2, default_assignment=room,
    )  # fmt: skip
    expect(room[0] != room[1] and -1 not in list(room), f"The default devices are {list(room)}.")
    return str(list(room))


@check("PJRT_Client_DefaultDeviceAssignment")
def default_assignment_too_small(client: Client) -> str:
    """An array that is too small for the assignment is an error."""
    room = (ctypes.c_int * 1)()
    return expect_error(
        lambda: client.call(
            "PJRT_Client_DefaultDeviceAssignment",
            client=client.handle,
            num_replicas=4,
            num_partitions=4,
            default_assignment_size=1,
            default_assignment=room,
        )
    )


@check("PJRT_Client_Create", stage=Stage.PLUGIN)
def unknown_option(plugin: Plugin) -> str:
    """An unknown create option is ignored or an error, never a crash."""
    options = make_named_values({"framedex_unknown_option": "value"})
    return read_outcome(lambda: plugin.call("PJRT_Client_Create", create_options=options, num_options=1))


@check("PJRT_Client_Create", "PJRT_Client_Destroy")
def second_client(client: Client) -> None:
    """A second client can exist while the first one does, or its creation is an error."""
    second = Client(client.plugin, client.options)
    expect(second.handle != client.handle, "Both clients have the same address.")
    client.call("PJRT_Client_Destroy", client=second.handle)
    client.floats(1.0)


@check("PJRT_Client_Create", "PJRT_Client_Destroy")
def create_again(client: Client) -> None:
    """A client can be created after another one was destroyed."""
    client.call("PJRT_Client_Destroy", client=client.handle)
    again = Client(client.plugin, client.options)
    expect_equal(again.fetch_floats(again.floats(1.0, 2.0)), [1.0, 2.0], "The content of a buffer")


@check("PJRT_Client_UpdateGlobalProcessInfo")
def process_information(client: Client) -> None:
    """PJRT_Client_UpdateGlobalProcessInfo accepts the state of one connected process."""
    process = Struct("PJRT_ProcessInfo", task_id=0, incarnation_id=1, state=3)
    client.call("PJRT_Client_UpdateGlobalProcessInfo", client=client.handle, process_infos=process, num_process_infos=1)


@check("PJRT_Client_UpdateGlobalProcessInfo")
def no_process_information(client: Client) -> None:
    """PJRT_Client_UpdateGlobalProcessInfo accepts an empty list with a null pointer."""
    client.call("PJRT_Client_UpdateGlobalProcessInfo", client=client.handle, process_infos=None, num_process_infos=0)


@check("PJRT_Client_DmaMap", "PJRT_Client_DmaUnmap")
def dma(client: Client) -> None:
    """Memory that is mapped for DMA can be transferred and unmapped."""
    page = ctypes.create_string_buffer(8192)
    start = (ctypes.addressof(page) + 4095) & ~4095
    client.call("PJRT_Client_DmaMap", client=client.handle, data=start, size=4096)
    client.call("PJRT_Client_DmaUnmap", client=client.handle, data=start)


@check("PJRT_Client_DmaUnmap")
def dma_unmap_unknown(client: Client) -> str:
    """Unmapping memory that is not mapped is an error, or does nothing."""
    page = ctypes.create_string_buffer(16)
    return read_outcome(lambda: client.call("PJRT_Client_DmaUnmap", client=client.handle, data=page))


@check("PJRT_Client_PlatformName", each=(1, 2, 5))
def larger_struct(client: Client, more: int) -> None:
    """A caller with a larger `struct_size`, from a newer header, is served."""
    size = (abi.read_layout("PJRT_Client_PlatformName_Args").struct_size or 0) + 8 * more
    client.call("PJRT_Client_PlatformName", client=client.handle, struct_size=size)
