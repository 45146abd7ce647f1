"""Make only explicit transfers, while JAX's transfer guard disallows others. Needs four devices."""

import functools
import json

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_transfer_guard", "disallow")
host = np.arange(8, dtype=np.float32)
split = NamedSharding(jax.make_mesh((4,), ("d",)), PartitionSpec("d"))
called = []


@functools.partial(jax.jit, donate_argnums=0)
def donating(x):
    return x + x


@jax.jit
def calling(x):
    jax.debug.callback(lambda: called.append(1))
    return x * x


x, y = jax.device_put((host, host))
kept = jax.device_put(host)
results = {
    "jit": jax.device_get(jax.jit(lambda a, b: a * b)(x, y)).tolist(),
    "donated": jax.device_get(donating(kept)).tolist(),
    "sharded": jax.device_get(jax.jit(lambda a: a + a)(jax.device_put(host, split))).tolist(),
    "callback": jax.device_get(calling(x)).tolist(),
}
jax.effects_barrier()
try:
    jax.jit(lambda a, b: a + b)(x, host)
except jax.errors.JaxRuntimeError as error:
    results["operand"] = str(error).partition(":")[0]
print(json.dumps(results | {"called": len(called)}))
