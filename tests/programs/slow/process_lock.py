"""The main thread waits for a lock that another process holds while it computes."""

import multiprocessing
import time

import jax
import numpy as np

context = multiprocessing.get_context("fork")
lock = context.Lock()
ready = context.Event()


def hold():
    with lock:
        ready.set()
        time.sleep(10_000)


jax.device_put(np.ones(4))
context.Process(target=hold, daemon=True).start()
ready.wait()
lock.acquire()  # waits
