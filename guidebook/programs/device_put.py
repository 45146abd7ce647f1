"""`jax.device_put`

The program puts a NumPy array on a device. Other inputs take other paths: a Python number, a tree of arrays, and an
array that is already on the device.
"""

import jax
import numpy as np

# step: Find the devices
# The first query for devices loads the plug-in and creates its client.
device = jax.devices()[0]

# step: Put a NumPy array
values = np.arange(6, dtype=np.float32).reshape(2, 3)
array = jax.device_put(values, device)

# step: Wait for the transfer
# `device_put` returns before the copy is done.
array.block_until_ready()

# step: Put a Python number
number = jax.device_put(1)

# step: Put a tree of arrays
tree = jax.device_put({"weights": values, "bias": np.zeros(3, np.float32)}, device)

# step: Put an array that is already on the device
# No bytes move.
again = jax.device_put(array, device)

# step: Delete an array
# This frees its memory. The object itself is destroyed when Python releases it.
array.delete()
assert array.is_deleted() and int(number) == 1
