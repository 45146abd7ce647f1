"""The main thread waits for one of several pipes, with a timeout."""

import os
import selectors

import jax
import numpy as np

jax.device_put(np.ones(4))
reader, writer = os.pipe()
with selectors.DefaultSelector() as selector:
    selector.register(reader, selectors.EVENT_READ)
    selector.select(timeout=1_000)  # polls
