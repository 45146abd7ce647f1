"""Call a handler on the result of another program, in a loop and on several devices: ffi_replayed.py LIBRARY."""

import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

ffi_examples.register(sys.argv[1])


def shift(x):
    return x + 1


shifted = jax.jit(shift)(np.arange(8, dtype=np.float32).reshape(2, 4))
print(np.asarray(jax.jit(lambda x: ffi_examples.rms_norm(x) * 2)(shifted)))
looped = jax.jit(lambda x: jax.lax.scan(lambda v, _: (ffi_examples.rms_norm(v) + 1, v.sum()), x, None, length=3))
for result in looped(shifted):
    print(np.asarray(result))
counted = jax.jit(ffi_examples.count_runs)
print([int(counted(jnp.int32(0))) for _ in range(3)])
mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
sharded = jax.shard_map(ffi_examples.rms_norm, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))
print(np.asarray(jax.jit(sharded)(shifted)))
