"""A worker waits for a condition after its last notification, and the main thread for the worker."""

import threading

import jax
import numpy as np

is_ready = threading.Condition()


def save():
    with is_ready:
        is_ready.wait()  # worker blocks


jax.device_put(np.ones(4))
with is_ready:
    is_ready.notify()
worker = threading.Thread(target=save)
worker.start()
worker.join()  # blocks
