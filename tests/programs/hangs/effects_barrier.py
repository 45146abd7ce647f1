"""A log callback waits for a reader, and the main thread for the effects of the step."""

import queue

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

lines = queue.Queue(1)


def log(loss):
    lines.put(float(loss))  # callback blocks


@jax.jit
def step(x):
    io_callback(log, None, x.sum(), ordered=True)
    return x + 1


x = jnp.ones(4)
for _ in range(2):
    x = step(x)
jax.effects_barrier()  # blocks
