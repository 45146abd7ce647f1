"""Run two programs in turn under JAX's own profiler, which writes into the given folder."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.sin(x) @ x.T


@jax.jit
def scale(x):
    return jnp.cos(x) * 2


x = step(jnp.ones((64, 64)))
x.block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    for _ in range(3):
        x = step(x)
        y = scale(x)
    jax.block_until_ready((x, y))
step(y).block_until_ready()
