"""The data loader waits for room in a queue, and the main thread for the end of the data loader."""

import queue
import threading

import jax
import numpy as np

batches = queue.Queue(2)


def load():
    while True:
        batches.put(jax.device_put(np.ones(4)))  # loader blocks


loader = threading.Thread(target=load)
loader.start()
loader.join()  # blocks
