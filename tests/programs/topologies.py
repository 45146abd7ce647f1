"""Print the topologies that the arguments (JSON: {name, options}) request from the loaded plug-in."""

import ctypes
import json
import sys

from pjrt_table import Table, named_values, read_named_values, text

table = Table()
table.call("PJRT_Plugin_Initialize")


def create(name, options):
    """A topology made ahead of time."""
    given, alive = named_values(options)
    encoded = ctypes.create_string_buffer(name.encode())
    arguments = table.call(
        "PJRT_TopologyDescription_Create",
        topology_name=ctypes.addressof(encoded),
        topology_name_size=len(name),
        create_options=given,
        num_options=len(options),
    )
    del alive
    return arguments["topology"]


def device(description):
    """The plug-in's description of a device."""
    kind = table.call("PJRT_DeviceDescription_Kind", device_description=description)
    debug_text = table.call("PJRT_DeviceDescription_DebugString", device_description=description)
    own_text = table.call("PJRT_DeviceDescription_ToString", device_description=description)
    attributes = table.call("PJRT_DeviceDescription_Attributes", device_description=description)
    return {
        "id": table.call("PJRT_DeviceDescription_Id", device_description=description)["id"],
        "process_index": table.call("PJRT_DeviceDescription_ProcessIndex", device_description=description)[
            "process_index"
        ],
        "kind": text(kind, "device_kind"),
        "debug_text": text(debug_text, "debug_string"),
        "text": text(own_text, "to_string"),
        "attributes": read_named_values(attributes["attributes"], attributes["num_attributes"]),
    }


def describe(topology):
    """All data of a topology."""
    found = table.call("PJRT_TopologyDescription_GetDeviceDescriptions", topology=topology)
    descriptions = (ctypes.c_void_p * found["num_descriptions"]).from_address(found["descriptions"])
    attributes = table.call("PJRT_TopologyDescription_Attributes", topology=topology)
    kinds = table.call("PJRT_TopologyDescription_GetMemorySpaceKindIds", topology=topology)
    return {
        "devices": [device(description) for description in descriptions],
        "attributes": read_named_values(attributes["attributes"], attributes["num_attributes"]),
        "memory_space_kind_ids": list(
            (ctypes.c_int * kinds["num_memory_space_kind_ids"]).from_address(kinds["memory_space_kind_ids"])
        ),
        "fingerprint": table.call("PJRT_TopologyDescription_Fingerprint", topology=topology)["fingerprint"],
    }


def serialized(topology):
    """The topology as bytes."""
    arguments = table.call("PJRT_TopologyDescription_Serialize", topology=topology)
    found = ctypes.string_at(arguments["serialized_bytes"], arguments["serialized_bytes_size"])
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(arguments["serialized_topology_deleter"])
    deleter(arguments["serialized_topology"])
    return found


def deserialized(data):
    """The topology that the bytes hold."""
    encoded = ctypes.create_string_buffer(data, len(data))
    arguments = table.call(
        "PJRT_TopologyDescription_Deserialize",
        serialized_topology=ctypes.addressof(encoded),
        serialized_topology_size=len(data),
    )
    return arguments["topology"]


def attempt(function):
    """Its return value, or the code and text of its error."""
    try:
        return function()
    except RuntimeError as error:
        return list(error.args)


results = []
for argument in sys.argv[1:]:
    wanted = json.loads(argument)
    topology = attempt(lambda wanted=wanted: create(wanted["name"], wanted.get("options", {})))
    if isinstance(topology, list):
        results.append(topology)
        continue
    result = describe(topology)
    if wanted.get("serialize", False):
        data = serialized(topology)
        copy = deserialized(data)
        result["deserialized"] = describe(copy)
        table.call("PJRT_TopologyDescription_Destroy", topology=copy)
        damaged = [b"", b"not a topology", data[:-1], data.replace(b"framedex", b"framedix")]
        result["damaged"] = [attempt(lambda bytes_=bytes_: describe(deserialized(bytes_))) for bytes_ in damaged]
    results.append(result)
    table.call("PJRT_TopologyDescription_Destroy", topology=topology)
print(json.dumps(results))
