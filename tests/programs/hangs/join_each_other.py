"""Two threads wait for each other's end."""

import threading

import jax
import numpy as np


def save():
    threading.main_thread().join()  # worker blocks


jax.device_put(np.ones(4))
worker = threading.Thread(target=save)
worker.start()
worker.join()  # blocks
