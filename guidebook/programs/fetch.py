"""`numpy.asarray` of a device array

The bytes are copied to the host: on demand, started in advance, or as a single number.
"""

import jax
import numpy as np

array = jax.device_put(np.arange(12, dtype=np.float32).reshape(3, 4)).block_until_ready()

# step: Fetch an array
fetched = np.asarray(array)

# step: Fetch the array again
# JAX caches the fetched value and does not call the plug-in.
fetched_again = np.asarray(array)

# step: Start a fetch and use the bytes later
result = jax.jit(lambda x: x * 2)(array)
result.copy_to_host_async()
doubled = np.asarray(result)

# step: Convert a result to a number
total = float(jax.jit(lambda x: x.sum())(array))

# step: Fetch a part of an array
# A separate program first computes the part on the device.
row = np.asarray(array[1])

# step: Fetch several arrays at once
both = jax.device_get([array + 1, array - 1])
assert total == 66 and doubled[0, 1] == 2 and row[0] == 4 and fetched is not None and fetched_again.size == both[0].size
