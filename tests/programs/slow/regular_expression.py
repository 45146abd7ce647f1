"""A regular expression that backtracks keeps the GIL from the main thread."""

import re
import threading

import jax
import numpy as np


def parse():
    re.match(r"(a|aa)+$", "a" * 80 + "b")  # worker computes


jax.device_put(np.ones(4))
threading.Thread(target=parse, daemon=True).start()  # needs the GIL
while True:
    pass
