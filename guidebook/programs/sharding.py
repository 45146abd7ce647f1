"""Sharded arrays and programs

The program shards an array over four devices and runs programs on all of them. The devices communicate through
collectives in `shard_map`.
"""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

devices = jax.devices()
mesh = Mesh(np.array(devices), ("x",))
rows = NamedSharding(mesh, PartitionSpec("x"))
everywhere = NamedSharding(mesh, PartitionSpec())
values = np.arange(32, dtype=np.float32).reshape(8, 4)

# step: Shard an array over the devices
array = jax.device_put(values, rows)
array.block_until_ready()

# step: Replicate an array on all devices
weights = jax.device_put(np.ones((4, 4), np.float32), everywhere)

# step: Run a program on all devices
product = jax.jit(lambda x, w: x @ w)(array, weights)
product.block_until_ready()

# step: Sum over the devices
total = jax.jit(lambda x: x.sum(), out_shardings=everywhere)(array)
assert float(total) == values.sum()

# step: Communicate between devices in `shard_map`
ring = [(i, (i + 1) % len(devices)) for i in range(len(devices))]


def around(x):
    return jax.lax.ppermute(x, "x", ring) + jax.lax.psum(x, "x") + jax.lax.axis_index("x")


shifted = jax.jit(jax.shard_map(around, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x")))(array)
shifted.block_until_ready()

# step: Reshard an array
columns = jax.device_put(array, NamedSharding(mesh, PartitionSpec(None, "x")))
columns.block_until_ready()

# step: Fetch a sharded array
assert np.array_equal(np.asarray(columns), values)
