"""The main thread waits for a pool of processes that computes."""

import multiprocessing

import jax
import numpy as np


def work(end):
    sum(iter(int, end))  # child computes


jax.device_put(np.ones(4))
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.map(work, [1])  # waits
