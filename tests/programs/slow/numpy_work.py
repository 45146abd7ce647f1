"""NumPy computes without the GIL."""

import jax
import numpy as np

jax.device_put(np.ones(4))
matrix = np.ones((1_500, 1_500))
while True:
    matrix @ matrix  # computes
