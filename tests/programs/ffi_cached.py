"""Run a program that may be in JAX's compilation cache: ffi_cached.py LIBRARY. Prints its number of runs."""

import json
import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np

hits = []
jax.monitoring.register_event_listener(
    lambda event, **_: hits.append(event) if event == "/jax/compilation_cache/cache_hits" else None
)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
ffi_examples.register(sys.argv[1])
jax.jit(ffi_examples.rms_norm)(jnp.asarray(np.ones((2, 4), np.float32))).block_until_ready()
print(json.dumps({"hits": len(hits)}))
