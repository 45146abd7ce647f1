"""A program whose compilation takes very long."""

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for number in range(1_500):
        x = jnp.sort(jnp.tanh(x * number), axis=number % 2)
    return x


ones = jnp.ones((64, 64))
step(ones)  # compiles
