"""The main thread leaves a pool of threads, one of which waits for a signal that only the main thread would send."""

import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

has_stopped = threading.Event()


def save():
    has_stopped.wait()  # worker blocks


jax.device_put(np.ones(4))
with ThreadPoolExecutor() as pool:
    pool.submit(save)
    pool.shutdown()  # blocks
has_stopped.set()
