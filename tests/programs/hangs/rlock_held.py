"""A thread waits for an event while it holds an RLock, acquired without `with`, that the main thread needs."""

import threading

import jax
import numpy as np

lock, taken, never = threading.RLock(), threading.Event(), threading.Event()


def worker():
    lock.acquire()
    taken.set()
    never.wait()  # blocks


threading.Thread(target=worker, daemon=True).start()
jax.device_put(np.ones(4))
taken.wait()
with lock:  # main blocks
    pass
