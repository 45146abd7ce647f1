"""A program's view of eight devices: positions, transfers between them, shards, host memories, a local error."""

import json

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

devices = jax.devices()
result = {
    "platform": jax.default_backend(),
    "version": devices[0].client.platform_version,
    "devices": [
        [device.id, device.platform, device.device_kind, list(device.coords), device.core_on_chip, device.process_index]
        for device in devices
    ],
    "memories": [[memory.kind for memory in device.addressable_memories()] for device in devices],
    "default_memory": devices[0].default_memory().kind,
    "problems": [],
}


def check(name, condition):
    """Record a failed condition."""
    if not condition:
        result["problems"].append(name)


def same(array, want):
    """Whether the array has the expected bytes."""
    return np.asarray(array).tobytes() == np.ascontiguousarray(want).tobytes()


values = np.arange(64, dtype=np.float32).reshape(8, 8)
first = jax.device_put(values, devices[0])
moved = jax.device_put(first, devices[5])
check("a copy is on the other device", moved.devices() == {devices[5]} and same(moved, values))
first.delete()
check("a copy outlives its source", same(moved, values))

mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
sharded = jax.device_put(values, NamedSharding(mesh, PartitionSpec("x", "y")))
check("a sharded array comes back whole", same(sharded, values))
for shard in sharded.addressable_shards:
    check(f"the shard of {shard.device}", shard.data.shape == (2, 4) and same(shard.data, values[shard.index]))
check("every device has a shard", {shard.device for shard in sharded.addressable_shards} == set(devices))
replicated = jax.device_put(values, NamedSharding(mesh, PartitionSpec()))
check("replicas are whole", all(same(shard.data, values) for shard in replicated.addressable_shards))
backwards = jax.device_put(values, NamedSharding(Mesh(np.array(devices[::-1]), ("z",)), PartitionSpec("z")))
check("shards over devices in another order", same(backwards, values))
gathered = jax.device_put(sharded.addressable_shards[3].data, devices[0])
check("a shard moves to another device", same(gathered, values[sharded.addressable_shards[3].index]))
check("make_mesh finds the coordinates", jax.make_mesh((4, 2), ("x", "y")).devices.shape == (4, 2))

for kind in ("pinned_host", "unpinned_host"):
    before = devices[2].memory_stats()["bytes_in_use"]
    host = jax.device_put(values, SingleDeviceSharding(devices[2], memory_kind=kind))
    check(f"{kind} is where it was asked for", host.sharding.memory_kind == kind and same(host, values))
    check(f"{kind} takes no device memory", devices[2].memory_stats()["bytes_in_use"] == before)
    back = jax.device_put(host, SingleDeviceSharding(devices[2], memory_kind="device"))
    check(f"from {kind} to the device", back.sharding.memory_kind == "device" and same(back, values))

deleted = jax.device_put(values)
deleted.delete()
try:
    np.asarray(deleted)
    result["deleted"] = None
except RuntimeError as error:
    result["deleted"] = str(error)

# A Pallas kernel for a TPU. jax 0.12 reads the configuration for its cache's key.
mosaic = json.dumps({"custom_call_config": {"body": ""}})
kernel = jax.ffi.ffi_call(
    "tpu_custom_call",
    jax.ShapeDtypeStruct(values.shape, values.dtype),
    custom_call_api_version=1,
    legacy_backend_config=mosaic,
)
try:
    jax.jit(kernel)(jax.device_put(values))
    result["compile"] = None
except jax.errors.JaxRuntimeError as error:
    result["compile"] = str(error)
check("the process goes on after UNIMPLEMENTED", same(jax.device_put(values, devices[7]), values))

print(json.dumps(result))
