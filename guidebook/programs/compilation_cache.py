"""The persistent compilation cache

JAX queries the plug-in for the data of the cache key, and serializes the executable. A later process loads it instead
of compiling. Here the same process does so after its caches are cleared.
"""

import tempfile

import jax
import numpy as np

with tempfile.TemporaryDirectory() as folder:
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    x = jax.device_put(np.ones(16, np.float32))

    # step: Compile with an empty cache
    jax.jit(lambda x: x * 2 + 1)(x).block_until_ready()

    # step: Clear the in-memory caches
    jax.clear_caches()

    # step: Load the cached executable
    jax.jit(lambda x: x * 2 + 1)(x).block_until_ready()
