"""The main thread waits for a pool of processes that computes."""

import multiprocessing

import jax
import numpy as np


def work(count):
    while True: count += 1  # child computes  # fmt: skip  # noqa: E701


jax.device_put(np.ones(4))
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.map(work, [0])  # waits
