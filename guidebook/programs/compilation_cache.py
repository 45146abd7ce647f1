"""What happens with the persistent compilation cache

JAX asks the plug-in for what a key is made of, and writes the executable as bytes. Another process, here the same one
after its caches are cleared, loads the bytes in place of compiling.
"""

import tempfile

import jax
import numpy as np

with tempfile.TemporaryDirectory() as folder:
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    x = jax.device_put(np.ones(16, np.float32))

    # step: Compile what the cache does not have
    jax.jit(lambda x: x * 2 + 1)(x).block_until_ready()

    # step: Forget the program
    jax.clear_caches()

    # step: Compile what the cache has
    jax.jit(lambda x: x * 2 + 1)(x).block_until_ready()
