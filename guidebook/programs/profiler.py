"""Profiling with `jax.profiler.trace`

JAX calls the profiler extension of the plug-in, which collects device events.
"""

import tempfile

import jax
import numpy as np

work = jax.jit(lambda x: x @ x)
x = jax.device_put(np.ones((64, 64), np.float32))
work(x).block_until_ready()

with tempfile.TemporaryDirectory() as folder:
    # step: Start a profile
    jax.profiler.start_trace(folder)

    # step: Work during the profile
    with jax.profiler.TraceAnnotation("three products"):
        for _ in range(3):
            work(x).block_until_ready()

    # step: Stop and collect the profile
    jax.profiler.stop_trace()
