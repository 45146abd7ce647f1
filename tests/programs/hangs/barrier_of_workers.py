"""Two threads wait at a barrier for a third one that has failed, and the main thread waits for them."""

import threading

import jax
import numpy as np

barrier = threading.Barrier(3)
threading.excepthook = lambda _: None


def work(number):
    if number == 2:
        raise OSError("the disk is gone")
    barrier.wait()  # worker blocks


jax.device_put(np.ones(4))
workers = [threading.Thread(target=work, args=[number]) for number in range(3)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()  # blocks
