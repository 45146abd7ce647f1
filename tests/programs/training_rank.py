"""A training loop as one process of a job: `training_rank.py STEPS`. Only rank 0 reports and saves."""

import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

RANK = int(os.environ.get("FRAMEDEX_RANK", "0"))


@jax.jit
def step(weights, batch, labels):
    def loss(weights):
        return jnp.mean((jnp.tanh(batch @ weights) - labels) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return weights - 0.1 * gradient, value


def load(number):
    return np.full((16, 32), number, np.float32), np.full((16, 4), number % 3, np.float32)


def report(weights):
    return np.asarray(weights)


def train(steps):
    weights = jax.device_put(np.ones((32, 4), np.float32))
    for number in range(steps):
        rows, wanted = load(number)
        batch = jax.device_put(rows)
        labels = jax.device_put(wanted)
        weights, value = step(weights, batch, labels)
        if number % 10 == 9:
            float(value)
            if RANK == 0:
                report(weights)


train(int(sys.argv[1]))
