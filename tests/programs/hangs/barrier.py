"""A barrier waits for a thread that never comes."""

import threading

import jax
import numpy as np

jax.device_put(np.ones(4))
threading.Barrier(2).wait()  # blocks
