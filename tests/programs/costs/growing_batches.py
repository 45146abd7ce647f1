"""A loop that compiles for each batch size, makes implicit transfers, retains its results, and waits for them."""

import jax
import numpy as np


@jax.jit
def update(x):
    return x * 2


def run_on(batch):
    return update(batch)  # case: runs


def train():
    kept = []
    for size in (128, 256, 384, 512, 640, 768):
        batch = np.ones(size, np.float32)
        result = run_on(batch)  # case: first way
        kept.append(jax.device_put(batch))  # case: keeps
        float(run_on(batch[:128])[0])  # case: second way
        result.block_until_ready()
    return kept


train()
