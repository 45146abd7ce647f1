"""The main thread waits for a batch that the data loader is preparing."""

import queue
import threading
import time

import jax
import numpy as np

batches = queue.Queue(2)


def load():
    while True:
        time.sleep(10_000)  # loader sleeps
        batches.put(jax.device_put(np.ones(4)))


threading.Thread(target=load, daemon=True).start()
jax.device_put(np.ones(4))
batches.get()  # waits
