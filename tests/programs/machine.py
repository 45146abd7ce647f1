"""Print a program's view of its machine: devices, memories, meshes, and Pallas's view of the chip."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import mesh_utils

devices = jax.devices()
local = jax.local_devices()
result = {
    "process": [jax.process_index(), jax.process_count()],
    "devices": [
        {
            "id": device.id,
            "kind": device.device_kind,
            "coords": list(device.coords),
            "core_on_chip": device.core_on_chip,
            "num_cores": device.num_cores,
            "slice_index": device.slice_index,
            "process_index": device.process_index,
            "local_hardware_id": device.local_hardware_id,
            "text": repr(device),
            "debug_text": str(device),
        }
        for device in devices
    ],
    "local": [device.id for device in local],
    "memories": [[memory.kind for memory in device.addressable_memories()] for device in local],
    "statistics": local[0].memory_stats(),
}


def attempt(function):
    """Its return value, or the text of its error."""
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ids(mesh):
    """The ids of a mesh's devices, as nested lists."""
    return [[device.id for device in row] for row in mesh.reshape(mesh.shape[0], -1)]


half = (2, len(devices) // 2)
result["make_mesh"] = attempt(lambda: ids(jax.make_mesh(half, ("x", "y")).devices))
result["device_mesh"] = attempt(lambda: ids(mesh_utils.create_device_mesh(half)))
slices = 1 + max(device.slice_index for device in devices)
result["hybrid_mesh"] = attempt(
    lambda: ids(mesh_utils.create_hybrid_device_mesh((1, len(devices) // slices), (slices, 1)))
)
result["foreign_statistics"] = attempt(devices[-1].memory_stats)


def tensor_core():
    """Sizes that Pallas has for this kind of chip."""
    from jax.experimental.pallas import tpu

    chip = tpu.get_tpu_info()
    return {name: getattr(chip, f"{name}_capacity_bytes") for name in ("vmem", "smem", "cmem", "hbm")}


result["tensor_core"] = attempt(tensor_core)


def donated_while_read():
    """The outcome of donating a result while its copy to another device waits for it, and of the copy."""
    busy = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda _, y: jnp.tanh(y @ x), x) * 0)
    taking = jax.jit(lambda x: x + 1, donate_argnums=0)
    taking(busy(jax.device_put(np.ones((300, 300), np.float32), local[-1]))).block_until_ready()  # compiles both
    x = busy(jax.device_put(np.ones((300, 300), np.float32), local[-1]))
    copy = jax.device_put(x, local[0])
    return [float(taking(x)[0, 0]), float(copy[0, 0])]


result["donated_while_read"] = attempt(donated_while_read)
print(json.dumps(result))
