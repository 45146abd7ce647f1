"""The runtime never reports that a result is ready (with the behaviour in `lost_event_behaviour.py`)."""

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x @ x)
x = jnp.ones((8, 8))
y = step(x)  # loses its event
y.block_until_ready()  # blocks
