"""Compile an unrolled loop that captures a large constant."""

import jax
import numpy as np

table = np.random.default_rng(0).normal(size=(600, 600)).astype(np.float32)


@jax.jit
def unrolled(x):
    for number in range(700):
        x = x * number + x
    return x + jax.numpy.asarray(table)[0, 0]


unrolled.lower(np.float32(1)).compile()
