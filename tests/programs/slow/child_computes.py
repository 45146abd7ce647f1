"""The main thread waits for a child process that computes: for its end, or with an argument for its output."""

import subprocess
import sys

import jax
import numpy as np

jax.device_put(np.ones(4))
subprocess.run([sys.executable, "-c", "while True: pass"], capture_output=len(sys.argv) > 1, check=True)  # waits
