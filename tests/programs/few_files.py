"""Forty concurrent threads send an array each, in a process with few files; prints how many succeeded."""

import json
import resource
import sys
import threading

import jax
import numpy as np

THREADS = 40
jax.devices()
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
barrier = threading.Barrier(THREADS)
sent = []


def work():
    """Send an array while all other threads are alive."""
    barrier.wait()
    jax.device_put(np.zeros(3, np.int8))
    sent.append(1)
    barrier.wait()


workers = [threading.Thread(target=work) for _ in range(THREADS)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(json.dumps(len(sent)))
