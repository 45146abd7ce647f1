"""The main thread waits for a pool of processes, whose worker waits for a lock that was held at the fork."""

import multiprocessing
import threading

import jax
import numpy as np

lock = threading.Lock()


def work(_):
    with lock:  # child blocks
        return 1


jax.device_put(np.ones(4))
with lock, multiprocessing.get_context("fork").Pool(1) as pool:
    pool.map(work, range(4))  # blocks
