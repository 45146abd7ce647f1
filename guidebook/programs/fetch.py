"""What happens on `numpy.asarray` of an array on a device

The bytes come back to the host: waited for, started beforehand, or as a single number.
"""

import jax
import numpy as np

array = jax.device_put(np.arange(12, dtype=np.float32).reshape(3, 4)).block_until_ready()

# step: Fetch an array
fetched = np.asarray(array)

# step: Fetch it again
# JAX keeps what it fetched: the plug-in is not asked again.
fetched_again = np.asarray(array)

# step: Start a fetch, and take the bytes later
result = jax.jit(lambda x: x * 2)(array)
result.copy_to_host_async()
doubled = np.asarray(result)

# step: Make a number of a result
total = float(jax.jit(lambda x: x.sum())(array))

# step: Fetch a part of an array
# The part is computed on the device first, by a program of its own.
row = np.asarray(array[1])

# step: Fetch several arrays at once
both = jax.device_get([array + 1, array - 1])
assert total == 66 and doubled[0, 1] == 2 and row[0] == 4 and fetched is not None and fetched_again.size == both[0].size
