"""A program that takes very long on the device, and a main thread that waits for it."""

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jax.lax.fori_loop(0, 1_000_000_000, lambda _, y: jnp.tanh(y @ x), x)


x = jnp.eye(64)
y = step(x)
y.block_until_ready()  # waits
