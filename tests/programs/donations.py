"""Donate arguments whose memory a result can reuse, and others whose memory none can."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def used(p):
    return p + 1


@partial(jax.jit, donate_argnums=0)
def left_to_xla(p):
    return p.reshape(4, 256)


@partial(jax.jit, donate_argnums=0)
def other_type(p):
    return p.astype(jnp.bfloat16)


@partial(jax.jit, donate_argnums=(0, 1, 2))
def refused_by_jax(kept, state, scale):
    return kept * scale.sum(), state[:2]


used(jnp.ones(1024))
left_to_xla(jnp.ones(1024))  # case: left to XLA
other_type(jnp.ones(1024))  # case: other type
refused_by_jax(jnp.ones(8), {"w": jnp.ones(1024)}["w"], jnp.ones(4))  # case: refused
