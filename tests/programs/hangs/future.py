"""A worker of a pool of one waits for a task that the pool cannot start."""

from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

pool = ThreadPoolExecutor(1)


def inner():
    return jax.device_put(np.ones(4))


def outer():
    return pool.submit(inner).result()  # worker blocks


jax.device_put(np.ones(4))
pool.submit(outer).result()  # blocks
