"""Compilations that miss JAX's persistent cache for different reasons.

Arguments: the cache folder, then `first` for a program that fills the cache or `second` for the misses.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.compilation_cache import compilation_cache

FOLDER, PART = sys.argv[1:]
jax.config.update("jax_compilation_cache_dir", FOLDER)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def step(x):
    return jnp.sin(x) @ x


def run(size, **options):
    jax.jit(step, **options)(np.ones((size, size), np.float32))


run(4)
if PART == "second":
    run(5)  # case: program
    run(4, compiler_options={"xla_cpu_enable_fast_math": True})  # case: options
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1000)
    run(6)
    jax.clear_caches()
    run(6)  # case: quick
    jax.config.update("jax_compilation_cache_dir", FOLDER + "-other")
    compilation_cache.reset_cache()
    jax.clear_caches()
    run(4)  # case: gone
    jax.config.update("jax_compilation_cache_dir", None)
    compilation_cache.reset_cache()
    jax.clear_caches()
    run(4)  # case: no cache
