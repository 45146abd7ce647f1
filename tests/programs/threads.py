"""Eight threads send 200 arrays each, with shapes that identify thread and number; prints the threads' ids."""

import json
import threading

import jax
import numpy as np

THREADS, PUTS = 8, 200
ids = {}
start = threading.Barrier(THREADS)


def work(number):
    """Send this thread's arrays."""
    ids[number] = threading.get_native_id()
    start.wait()
    for i in range(PUTS):
        jax.device_put(np.zeros((number + 1, i + 1), np.int8))


jax.devices()
workers = [threading.Thread(target=work, args=(number,), name=f"worker-{number}") for number in range(THREADS)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(json.dumps(ids))
