"""The runtime never reports that a result is ready (with the behaviour in `lost_event_behaviour.py`).

Meanwhile another thread logs the use of memory.
"""

import threading
import time

import jax
import jax.numpy as jnp


def log():
    while True:
        device.memory_stats()
        time.sleep(0.01)


device = jax.devices()[0]
step = jax.jit(lambda x: x @ x)
x = jnp.ones((8, 8))
y = step(x)  # loses its event
threading.Thread(target=log, daemon=True).start()
y.block_until_ready()  # blocks
