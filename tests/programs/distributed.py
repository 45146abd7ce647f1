"""One process of several: `distributed.py INDEX COUNT PORT`.

Prints its view of machine and array, and of programs that the processes run together.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

index, count, port = map(int, sys.argv[1:])
jax.distributed.initialize(f"localhost:{port}", count, index)
devices = jax.devices()
mesh = jax.make_mesh((len(devices),), ("x",))
rows = np.arange(jax.local_device_count()) + 100 * index
array = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("x")), rows)
replicated = NamedSharding(mesh, PartitionSpec())
total = jax.jit(jnp.sum, out_shardings=replicated)(array)
doubled = jax.jit(lambda x: x + x, out_shardings=array.sharding)(array)
told = []


@jax.jit
def call_back(value):
    jax.debug.callback(lambda seen: told.append(np.asarray(seen).tolist()), value)


for device in jax.local_devices():
    call_back(jax.device_put(np.int32(device.id), device))
jax.effects_barrier()
print(
    json.dumps(
        {
            "process": [jax.process_index(), jax.process_count()],
            "devices": [[device.id, device.process_index, list(device.coords)] for device in devices],
            "local": [device.id for device in jax.local_devices()],
            "told": sorted(told),
            "shape": array.shape,
            "sum": int(total.addressable_data(0)),
            "doubled": {shard.device.id: np.asarray(shard.data).tolist() for shard in doubled.addressable_shards},
            "shards": {shard.device.id: np.asarray(shard.data).tolist() for shard in array.addressable_shards},
        }
    ),
    flush=True,
)
jax.distributed.shutdown()
