"""A loop in Python, without JAX, after a call."""

import jax
import numpy as np

jax.device_put(np.ones(4))
total = 0
while True:
    total += 1  # computes
