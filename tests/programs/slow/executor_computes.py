"""The main thread waits for an executor: one of its processes sleeps, and a later one computes."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import jax
import numpy as np


def work(end):
    sum(iter(int, end))  # child computes


jax.device_put(np.ones(4))
with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
    pool.submit(time.sleep, 10_000)
    pool.submit(work, 1).result()  # waits
