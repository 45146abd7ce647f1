"""A long pause between two steps."""

import time

import jax
import numpy as np

jax.device_put(np.ones(4))
time.sleep(10_000)  # sleeps
