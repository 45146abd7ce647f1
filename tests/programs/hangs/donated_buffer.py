"""The runtime never reports the end of a step that took a donated buffer (with `lost_event_behaviour.py`)."""

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x + 1, donate_argnums=0)
x = step(jnp.ones((8, 8)))
x = step(x)  # loses its event
x.block_until_ready()  # blocks
