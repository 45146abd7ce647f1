"""Start a training loop; print the seconds from the process's start to its first step, and JAX's own report.

The optional argument is the folder of a persistent compilation cache.
"""

import json
import os
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

reported = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, fun_name="", **_: reported.append((event, fun_name, duration))
)
if len(sys.argv) > 1:
    jax.config.update("jax_compilation_cache_dir", sys.argv[1])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def block(x):
    return jnp.sin(x) * 2.0 + x  # case: block


@jax.jit
def normalised(x):
    return x / jnp.sqrt(jnp.mean(x * x))


def loss(weights, x):
    for _ in range(40):
        x = block(x)  # case: unrolled
    x, _ = jax.lax.scan(lambda carry, _: (carry + 1.0, None), x, None, length=30)
    for _ in range(9):
        x = normalised(x)  # case: nested calls
    return jnp.sum(normalised(x @ weights))


@jax.jit
def train_step(weights, x):
    return weights - 0.1 * jax.grad(loss)(weights, x)


weights = jax.device_put(np.ones((8, 8), np.float32))  # case: device
batch = jnp.zeros((4, 8))  # case: eager
for number in range(10):
    weights = train_step(weights, batch)  # case: step
    if not number:
        ended = time.monotonic()
ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
print(json.dumps({"seconds": age - (time.monotonic() - ended), "reported": reported}))
