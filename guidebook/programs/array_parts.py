"""`jax.make_array_from_single_device_arrays`

The program assembles an array over several devices from existing parts, and then reads its parts. No bytes move.
"""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

devices = jax.devices()
rows = NamedSharding(Mesh(np.array(devices), ("x",)), PartitionSpec("x"))
values = np.arange(len(devices) * 2, dtype=np.float32).reshape(len(devices), 2)

# step: Put a part on each device
parts = [jax.device_put(values[i : i + 1], device) for i, device in enumerate(devices)]

# step: Assemble one array from the parts
array = jax.make_array_from_single_device_arrays(values.shape, rows, parts)

# step: Create an array with `jax.make_array_from_callback`
made = jax.make_array_from_callback(values.shape, rows, lambda index: values[index])

# step: Compute with the array
added = jax.jit(lambda x, y: x + y)(array, made)
added.block_until_ready()

# step: Take the parts of the array
first = added.addressable_shards[0].data
assert float(first[0, 1]) == 2
