"""Client and device queries

JAX queries the platform, the devices, their attributes and their memory use.
"""

import jax
import numpy as np

# step: Find the devices
devices = jax.devices()
local = jax.local_devices()

# step: Query the platform
client = devices[0].client
print(client.platform, client.platform_version.splitlines()[0], jax.process_index(), jax.process_count())

# step: Query the attributes of a device
# JAX already queried most of them when it found the devices.
device = devices[0]
print(device, device.device_kind, getattr(device, "coords", None), getattr(device, "core_on_chip", None))
print(device.local_hardware_id, device.process_index)

# step: Query the memory use
array = jax.device_put(np.ones(1 << 10, np.float32), device)
print(device.memory_stats())

# step: List all live arrays
assert len(jax.live_arrays()) == 1

# step: Arrange the devices in a mesh
mesh = jax.make_mesh((len(devices),), ("x",))
print(mesh)
