"""The main thread waits for an executor whose process sleeps, as one that downloads may."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import jax
import numpy as np

jax.device_put(np.ones(4))
with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    pool.submit(time.sleep, 10_000).result()  # waits
