"""The main thread waits for a thread that writes a checkpoint without end."""

import os
import tempfile
import threading

import jax
import numpy as np


def write():
    with tempfile.TemporaryFile() as file:
        while True:
            os.pwrite(file.fileno(), bytes(1 << 20), 0)
            os.fsync(file.fileno())  # worker writes


jax.device_put(np.ones(4))
writer = threading.Thread(target=write)
writer.start()
writer.join()  # waits
