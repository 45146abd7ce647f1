"""The data loader waits for a file reader that has ended, and the main thread for the data loader."""

import queue
import threading

import jax
import numpy as np

rows, batches = queue.Queue(), queue.Queue(2)


def read():
    rows.put(np.ones(4))


def load():
    while True:
        batches.put(jax.device_put(rows.get()))  # loader blocks


threading.Thread(target=read).start()
threading.Thread(target=load, daemon=True).start()
while True:
    batches.get()  # blocks
