"""The main thread polls a queue with a timeout."""

import queue

import jax
import numpy as np

batches = queue.Queue(2)
jax.device_put(np.ones(4))
while True:
    try:
        batches.get(timeout=1_000)  # polls
    except queue.Empty:
        continue
