"""What happens on `jax.make_array_from_single_device_arrays`

An array over several devices is made of parts that are there, and taken apart again. No bytes move.
"""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

devices = jax.devices()
rows = NamedSharding(Mesh(np.array(devices), ("x",)), PartitionSpec("x"))
values = np.arange(len(devices) * 2, dtype=np.float32).reshape(len(devices), 2)

# step: Put a part on each device
parts = [jax.device_put(values[i : i + 1], device) for i, device in enumerate(devices)]

# step: Make one array of them
array = jax.make_array_from_single_device_arrays(values.shape, rows, parts)

# step: Make an array by a function that is asked for its parts
made = jax.make_array_from_callback(values.shape, rows, lambda index: values[index])

# step: Use it
added = jax.jit(lambda x, y: x + y)(array, made)
added.block_until_ready()

# step: Take it apart
first = added.addressable_shards[0].data
assert float(first[0, 1]) == 2
