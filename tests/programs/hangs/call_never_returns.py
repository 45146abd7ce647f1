"""The runtime never returns from a run of a program (with the behaviour in `call_never_returns_behaviour.py`)."""

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x @ x)
x = jnp.ones((8, 8))
y = step(x)  # blocks
