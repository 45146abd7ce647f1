"""Memory kinds

The program moves arrays between device memory and pinned host memory. A compiled function takes an argument from
host memory, and leaves a result there.
"""

import jax
import numpy as np
from jax.sharding import SingleDeviceSharding

device = jax.devices()[0]
on_host = SingleDeviceSharding(device, memory_kind="pinned_host")
on_device = SingleDeviceSharding(device, memory_kind="device")

# step: Query the memories of a device
kinds = [memory.kind for memory in device.addressable_memories()]
assert device.default_memory().kind in kinds

# step: Put an array into pinned host memory
x = jax.device_put(np.arange(4, dtype=np.float32), on_host)
x.block_until_ready()

# step: Copy the array to the device
y = jax.device_put(x, on_device)
y.block_until_ready()

# step: Copy the array back
z = jax.device_put(y, on_host)
assert z.sharding.memory_kind == "pinned_host" and np.asarray(z)[3] == 3

# step: Leave a result in host memory
offloaded = jax.jit(lambda x: x * 2, out_shardings=on_host)(y)
offloaded.block_until_ready()

# step: Take an argument from host memory
taken = jax.jit(lambda x: jax.device_put(x, on_device) * 2)(offloaded)
assert float(taken[3]) == 12
