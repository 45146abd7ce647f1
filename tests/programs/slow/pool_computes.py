"""The main thread waits for a pool that computes."""

from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np


def tokenise():
    count = 0
    while True:
        count += 1  # worker computes


jax.device_put(np.ones(4))
with ThreadPoolExecutor() as pool:
    pool.submit(tokenise).result()  # waits
