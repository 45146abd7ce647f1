"""What JAX asks of clients and devices

The platform, the devices and their attributes, and how much of their memory is in use.
"""

import jax
import numpy as np

# step: Find the devices
devices = jax.devices()
local = jax.local_devices()

# step: Ask for the platform
client = devices[0].client
print(client.platform, client.platform_version.splitlines()[0], jax.process_index(), jax.process_count())

# step: Ask for a device's attributes
# Most of them JAX has asked for when it found the devices.
device = devices[0]
print(device, device.device_kind, getattr(device, "coords", None), getattr(device, "core_on_chip", None))
print(device.local_hardware_id, device.process_index)

# step: Ask for its memory in use
array = jax.device_put(np.ones(1 << 10, np.float32), device)
print(device.memory_stats())

# step: Ask for all arrays that are alive
assert len(jax.live_arrays()) == 1

# step: Arrange the devices in a mesh
mesh = jax.make_mesh((len(devices),), ("x",))
print(mesh)
