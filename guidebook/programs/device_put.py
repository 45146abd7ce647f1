"""What happens on `jax.device_put`

An array of NumPy is put on a device, then others that make JAX take other roads: a number of Python, a tree of
arrays, an array that already is on the device.
"""

import jax
import numpy as np

# step: Find the devices
# The first question for a device loads the plug-in and creates its client.
device = jax.devices()[0]

# step: Put an array of NumPy
values = np.arange(6, dtype=np.float32).reshape(2, 3)
array = jax.device_put(values, device)

# step: Wait until it is there
# `device_put` returns before the copy is done.
array.block_until_ready()

# step: Put a number of Python
number = jax.device_put(1)

# step: Put a tree of arrays
tree = jax.device_put({"weights": values, "bias": np.zeros(3, np.float32)}, device)

# step: Put what is there already
# No bytes move.
again = jax.device_put(array, device)

# step: Delete an array
# Its memory is free again at once; the object itself is destroyed when Python gives it up.
array.delete()
assert array.is_deleted() and int(number) == 1
