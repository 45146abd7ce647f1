"""What happens between kinds of memory

Arrays go from the device's memory to the host's pinned memory and back; a program takes an argument from there and
leaves a result there.
"""

import jax
import numpy as np
from jax.sharding import SingleDeviceSharding

device = jax.devices()[0]
on_host = SingleDeviceSharding(device, memory_kind="pinned_host")
on_device = SingleDeviceSharding(device, memory_kind="device")

# step: Ask for a device's memories
kinds = [memory.kind for memory in device.addressable_memories()]
assert device.default_memory().kind in kinds

# step: Put an array into pinned host memory
x = jax.device_put(np.arange(4, dtype=np.float32), on_host)
x.block_until_ready()

# step: Copy it to the device
y = jax.device_put(x, on_device)
y.block_until_ready()

# step: Copy it back
z = jax.device_put(y, on_host)
assert z.sharding.memory_kind == "pinned_host" and np.asarray(z)[3] == 3

# step: Leave a result in host memory
offloaded = jax.jit(lambda x: x * 2, out_shardings=on_host)(y)
offloaded.block_until_ready()

# step: Take an argument from host memory
taken = jax.jit(lambda x: jax.device_put(x, on_device) * 2)(offloaded)
assert float(taken[3]) == 12
