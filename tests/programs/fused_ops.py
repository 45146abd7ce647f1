"""A program whose compiler contracts a multiplication and an addition to one rounding."""

import jax
import numpy as np


@jax.jit
def contracted(x, y):
    product = x * y  # fused
    return product + x  # begins: add


x = np.linspace(0.1, 1, 4096, dtype=np.float32)
print(np.asarray(contracted(x, np.random.default_rng(0).normal(size=x.size).astype(np.float32))))
