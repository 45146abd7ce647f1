"""The main thread waits for a signal, with a timeout after which it continues."""

import threading

import jax
import numpy as np

has_stopped = threading.Event()
jax.device_put(np.ones(4))
has_stopped.wait(timeout=1_000)  # polls
