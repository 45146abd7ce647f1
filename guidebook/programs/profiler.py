"""What happens when a profile is taken

`jax.profiler.trace` asks the plug-in's profiler, an extension of the table, to collect what the devices do.
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

    # step: Work while it is taken
    with jax.profiler.TraceAnnotation("three products"):
        for _ in range(3):
            work(x).block_until_ready()

    # step: Stop, and collect it
    jax.profiler.stop_trace()
