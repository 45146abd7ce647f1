"""Call functions of clients, devices and memories that JAX seldom calls, and print their results."""

import ctypes
import json

from pjrt_table import Table, text

table = Table()
table.call("PJRT_Plugin_Initialize")
client = table.call("PJRT_Client_Create")["client"]
result = {}


def handles(function, field, **owner):
    """The list of handles that a function returns."""
    arguments = table.call(function, **owner)
    count = arguments[f"num_{field}"]
    return list((ctypes.c_void_p * count).from_address(arguments[field])) if count else []


def attempt(function, **fields):
    """`ok`, or the code and text of the error."""
    try:
        table.call(function, **fields)
    except RuntimeError as error:
        return list(error.args)
    return "ok"


def description(device):
    """The device's description."""
    return table.call("PJRT_Device_GetDescription", device=device)["device_description"]


devices = handles("PJRT_Client_Devices", "devices", client=client)
local = handles("PJRT_Client_AddressableDevices", "addressable_devices", client=client)
ids = {
    device: table.call("PJRT_DeviceDescription_Id", device_description=description(device))["id"] for device in devices
}
result["process_index"] = table.call("PJRT_Client_ProcessIndex", client=client)["process_index"]
result["ids"] = list(ids.values())
result["local"] = [ids[device] for device in local]
result["hardware_ids"] = [
    table.call("PJRT_Device_LocalHardwareId", device=device)["local_hardware_id"] for device in devices
]
result["found_by_id"] = all(
    table.call("PJRT_Client_LookupDevice", client=client, id=ids[device])["device"] == device for device in devices
)
result["found_by_hardware_id"] = [
    ids[table.call("PJRT_Client_LookupAddressableDevice", client=client, local_hardware_id=i)["addressable_device"]]
    for i in range(len(local))
]
result["no_such_id"] = attempt("PJRT_Client_LookupDevice", client=client, id=1000)
result["no_such_hardware_id"] = attempt("PJRT_Client_LookupAddressableDevice", client=client, local_hardware_id=-1)

foreign = next((device for device in devices if device not in local), None)
if foreign:
    result["foreign"] = {
        "memories": handles("PJRT_Device_AddressableMemories", "memories", device=foreign),
        **{
            name: attempt(f"PJRT_Device_{name}", device=foreign)
            for name in ("DefaultMemory", "MemoryStats", "ClearMemoryStats")
        },
    }

memories = handles("PJRT_Client_AddressableMemories", "addressable_memories", client=client)
result["memories"] = [
    [
        table.call("PJRT_Memory_Id", memory=memory)["id"],
        text(table.call("PJRT_Memory_Kind", memory=memory), "kind"),
        table.call("PJRT_Memory_Kind_Id", memory=memory)["kind_id"],
        text(table.call("PJRT_Memory_ToString", memory=memory), "to_string"),
        [ids[device] for device in handles("PJRT_Memory_AddressableByDevices", "devices", memory=memory)],
    ]
    for memory in memories
]


def assignment(replicas, partitions):
    """The default device assignment, or the error."""
    room = (ctypes.c_int * 64)()
    fields = {"num_replicas": replicas, "num_partitions": partitions, "default_assignment": ctypes.addressof(room)}
    answer = attempt("PJRT_Client_DefaultDeviceAssignment", client=client, default_assignment_size=64, **fields)
    return list(room[: replicas * partitions]) if answer == "ok" else answer


result["assignments"] = {"local": assignment(1, len(local)), "all": assignment(len(devices), 1)}
result["assignments"]["too many"] = assignment(2, len(devices))


def statistics():
    """The statistics that clearing changes or leaves."""
    arguments = table.call("PJRT_Device_MemoryStats", device=local[0])
    names = ("bytes_in_use", "peak_bytes_in_use", "num_allocs", "largest_alloc_size")
    return [arguments[name] for name in names]


def buffer(size):
    """An uninitialized array of bytes on the first device."""
    dims = ctypes.c_int64(size)
    return table.call(
        "PJRT_Client_CreateUninitializedBuffer",
        client=client,
        shape_dims=ctypes.addressof(dims),
        shape_num_dims=1,
        shape_element_type=2,  # S8
        device=local[0],
    )["buffer"]


kept = buffer(1000)
table.call("PJRT_Buffer_Destroy", buffer=buffer(5000))
result["statistics"] = {"before": statistics()}
table.call("PJRT_Device_ClearMemoryStats", device=local[0])
result["statistics"]["cleared"] = statistics()

data = ctypes.create_string_buffer(4096)
start = ctypes.addressof(data)
result["dma"] = [
    attempt("PJRT_Client_DmaMap", client=client, data=start, size=2048),
    attempt("PJRT_Client_DmaMap", client=client, data=start + 1024, size=2048),
    attempt("PJRT_Client_DmaMap", client=client, data=start + 2048, size=2048),
    attempt("PJRT_Client_DmaUnmap", client=client, data=start),
    attempt("PJRT_Client_DmaUnmap", client=client, data=start),
]

words = ctypes.create_string_buffer(b"transfer")
event = table.call(
    "PJRT_Device_CreateAsyncTrackingEvent",
    device=local[0],
    description=ctypes.addressof(words),
    description_size=8,
)["event"]
result["tracking_event"] = [bool(event), attempt("PJRT_AsyncTrackingEvent_Destroy", event=event)]
print(json.dumps(result))
