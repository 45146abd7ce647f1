"""Asynchronous dispatch

Calls return before their work is done. JAX checks whether a result is ready, waits for one or several results, and
starts work on results that are not ready.
"""

import threading

import jax
import numpy as np

gate = threading.Event()
held = jax.jit(lambda x: jax.pure_callback(lambda a: gate.wait(5) and np.asarray(a), x, x) + 1)
double = jax.jit(lambda x: x * 2)
x = jax.device_put(np.float32(1))
double(x).block_until_ready()

# step: Start blocked work
result = held(x)

# step: Check whether the result is ready
assert not result.is_ready()

# step: Start work on a pending result
chained = double(double(result))

# step: Unblock the work and wait for the last result
gate.set()
chained.block_until_ready()
assert result.is_ready() and float(chained) == 8

# step: Wait for several results
jax.block_until_ready([double(x) for _ in range(3)])
