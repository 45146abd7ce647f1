"""The main thread waits for a thread that trains."""

import threading

import jax
import jax.numpy as jnp


def train():
    step = jax.jit(lambda x: x @ x / 8)
    x = jnp.ones((8, 8))
    while True:
        x = step(x)  # step
        x.block_until_ready()


worker = threading.Thread(target=train)
worker.start()
worker.join()  # joins
