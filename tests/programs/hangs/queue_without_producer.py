"""The main thread waits for a batch, but the thread of the data loader has died."""

import queue
import threading

import jax
import numpy as np

batches = queue.Queue(2)


def load():
    batches.put(jax.device_put(np.ones(4)))
    raise OSError("the disk is gone")


threading.excepthook = lambda _: None
threading.Thread(target=load).start()
while True:
    batch = batches.get()  # blocks
    batch.block_until_ready()
