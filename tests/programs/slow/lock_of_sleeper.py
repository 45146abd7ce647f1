"""The main thread waits for the lock of a thread that sleeps between two attempts to save."""

import threading
import time

import jax
import numpy as np

files = threading.Lock()
has_lock = threading.Event()


def save():
    with files:
        has_lock.set()
        time.sleep(10_000)  # worker sleeps


jax.device_put(np.ones(4))
threading.Thread(target=save, daemon=True).start()
has_lock.wait()
with files:  # waits
    pass
