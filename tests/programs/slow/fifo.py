"""The main thread opens a file whose storage does not answer yet."""

import os
import tempfile

import jax
import numpy as np

jax.device_put(np.ones(4))
with tempfile.TemporaryDirectory() as folder:
    os.mkfifo(f"{folder}/weights")
    os.open(f"{folder}/weights", os.O_RDONLY)  # blocks
