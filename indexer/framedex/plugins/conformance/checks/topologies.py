"""Topologies: of the client, by name, serialised."""

import ctypes

from framedex.base import words
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    F32,
    Client,
    expect,
    expect_equal,
    expect_error,
    pack_int64s,
    read_outcome,
    unsupported_if_error,
)
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import (
    Plugin,
    read_addresses,
    read_integers,
    read_named_values,
    read_text,
    take_bytes,
)

_PREFIX = "PJRT_TopologyDescription_"


def _topology(client: Client) -> int:
    found: int = client.call("PJRT_Client_TopologyDescription", client=client.handle).topology
    return found


def _descriptions(client: Client, topology: int) -> list[int]:
    found = client.call(f"{_PREFIX}GetDeviceDescriptions", topology=topology)
    return read_addresses(found.descriptions, found.num_descriptions)


@check("PJRT_Client_TopologyDescription")
def of_client(client: Client) -> None:
    """The topology of a client belongs to the client and stays the same."""
    expect_equal(_topology(client), _topology(client), "The second address")


@check(f"{_PREFIX}PlatformName", "PJRT_Client_PlatformName")
def platform_name(client: Client) -> str:
    """A topology has the platform name of its client."""
    found = client.call(f"{_PREFIX}PlatformName", topology=_topology(client))
    own = client.call("PJRT_Client_PlatformName", client=client.handle)
    name = read_text(found.platform_name, found.platform_name_size)
    expect_equal(name, read_text(own.platform_name, own.platform_name_size), "The platform name")
    return name


@check(f"{_PREFIX}PlatformVersion")
def platform_version(client: Client) -> str:
    """A topology has a platform version."""
    found = client.call(f"{_PREFIX}PlatformVersion", topology=_topology(client))
    return read_text(found.platform_version, found.platform_version_size)[:60]


@check(f"{_PREFIX}GetDeviceDescriptions", "PJRT_DeviceDescription_Id")
def descriptions(client: Client) -> str:
    """A topology describes the devices of its client."""
    ids = [
        client.call("PJRT_DeviceDescription_Id", device_description=each).id
        for each in _descriptions(client, _topology(client))
    ]
    own = [client.device_id(device) for device in client.devices]
    expect(set(own) <= set(ids), f"The topology has devices {ids}, the client {own}.")
    return words.count(len(ids), "device")


@check(f"{_PREFIX}GetDeviceDescriptions", "PJRT_DeviceDescription_Kind")
def description_kinds(client: Client) -> str:
    """Each description of a topology has a kind and attributes."""
    kinds = set()
    for each in _descriptions(client, _topology(client)):
        found = client.call("PJRT_DeviceDescription_Kind", device_description=each)
        kinds.add(read_text(found.device_kind, found.device_kind_size))
        attributes = client.call("PJRT_DeviceDescription_Attributes", device_description=each)
        read_named_values(attributes.attributes, attributes.num_attributes)
    return ", ".join(sorted(kinds))


@check(f"{_PREFIX}Attributes")
def attributes(client: Client) -> str:
    """The attributes of a topology have names and values."""
    found = client.call(f"{_PREFIX}Attributes", topology=_topology(client))
    return ", ".join(read_named_values(found.attributes, found.num_attributes))


@check(f"{_PREFIX}Fingerprint")
def fingerprint(client: Client) -> str:
    """The fingerprint of a topology stays the same."""
    found = [client.call(f"{_PREFIX}Fingerprint", topology=_topology(client)).fingerprint for _ in range(2)]
    expect_equal(found[1], found[0], "The second fingerprint")
    return f"{found[0]:#x}"


def _serialized(client: Client) -> bytes:
    found = client.call(f"{_PREFIX}Serialize", topology=_topology(client))
    return take_bytes(
        found.serialized_bytes, found.serialized_bytes_size, found.serialized_topology_deleter,
        found.serialized_topology,
    )  # fmt: skip


@check(f"{_PREFIX}Serialize")
def serialize(client: Client) -> str:
    """A topology can be serialised."""
    return f"{len(_serialized(client))} bytes"


@check(f"{_PREFIX}Serialize", f"{_PREFIX}Deserialize", f"{_PREFIX}Destroy")
def deserialize(client: Client) -> None:
    """A deserialised topology has the same devices."""
    content = _serialized(client)
    with unsupported_if_error("NOT_FOUND"):
        found = client.call(f"{_PREFIX}Deserialize", serialized_topology=content, serialized_topology_size=len(content))
    expect_equal(
        len(_descriptions(client, found.topology)),
        len(_descriptions(client, _topology(client))),
        "The number of devices",
    )
    client.call(f"{_PREFIX}Destroy", topology=found.topology)


@check(f"{_PREFIX}Deserialize")
def deserialize_malformed(client: Client) -> str:
    """A malformed serialised topology is an error."""
    return expect_error(
        lambda: client.call(f"{_PREFIX}Deserialize", serialized_topology=b"\xff" * 16, serialized_topology_size=16)
    )


@check(f"{_PREFIX}Create", f"{_PREFIX}Destroy", stage=Stage.PLUGIN)
def create_default(plugin: Plugin) -> str:
    """A topology without a name is that of this machine, or an error."""
    return _create(plugin, b"")


@check(f"{_PREFIX}Create", stage=Stage.PLUGIN)
def create_unknown(plugin: Plugin) -> str:
    """A topology with an unknown name is an error, or the name is ignored; never a crash."""
    return _create(plugin, b"framedex:unknown")


def _create(plugin: Plugin, name: bytes) -> str:
    def create() -> None:
        found = plugin.call(f"{_PREFIX}Create", topology_name=name, topology_name_size=len(name), num_options=0)
        plugin.call(f"{_PREFIX}Destroy", topology=found.topology)

    return read_outcome(create)


@check(f"{_PREFIX}GetMemorySpaceKindIds", "PJRT_Memory_Kind_Id")
def memory_kind_ids(client: Client) -> str:
    """A topology has the kind ids of the memories of its devices."""
    found = client.call(f"{_PREFIX}GetMemorySpaceKindIds", topology=_topology(client))
    ids = read_integers(found.memory_space_kind_ids, found.num_memory_space_kind_ids, ctypes.c_int)
    own = {client.call("PJRT_Memory_Kind_Id", memory=memory).kind_id for memory in client.memories(client.device)}
    expect(own <= set(ids), f"The topology has kinds {ids}, the device {sorted(own)}.")
    return str(ids)


@check(f"{_PREFIX}MakeCanonicalShapeForMemorySpace")
def canonical_shape(client: Client) -> str:
    """A topology makes the canonical shape of an array for a kind of memory."""
    kind = client.call("PJRT_Memory_Kind_Id", memory=client.default_memory(client.device)).kind_id
    found: Struct = client.call(
        f"{_PREFIX}MakeCanonicalShapeForMemorySpace", topology=_topology(client), memory_space_kind_id=kind,
        dims=pack_int64s([2, 3]), num_dims=2, element_type=F32, layout=None,
    )  # fmt: skip
    expect(found.serialized_shape_size, "The shape is empty.")
    return f"{found.serialized_shape_size} bytes"
