"""Compile three programs with a persistent cache in a given folder; print the number of cache hits."""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))

values = np.arange(64, dtype=np.float32).reshape(8, 8)
sharded = jax.device_put(values, NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec("x")))
results = [
    jax.jit(lambda x: x @ x + 1)(values),
    jax.jit(lambda x: jnp.sort(x, axis=None))(values),
    jax.jit(lambda x: x.sum() + x)(sharded),
]
wanted = [values @ values + 1, np.sort(values, axis=None), values.sum() + values]
close = [bool(np.allclose(result, want, 1e-4)) for result, want in zip(results, wanted, strict=True)]
print(json.dumps({"right": close, "hits": events.count("/jax/compilation_cache/cache_hits")}))
