"""Compiles one function for each shape, in a loop."""

import jax
import jax.numpy as jnp

values = [jnp.ones((200 + size, 200)) for size in range(6)]
double = jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x).T)
for value in values:
    double(value).block_until_ready()
