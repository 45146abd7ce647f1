"""A training loop with typical problems: it recompiles, transfers, leaks, waits and fails."""

import threading

import jax
import jax.numpy as jnp
import numpy as np

KEPT = []


def loss(weights, batch):
    return jnp.mean(jnp.tanh(batch @ weights) ** 2)


@jax.jit
def step(weights, batch):
    return weights - 0.1 * jax.grad(loss)(weights, batch)


def batch_of(number):
    rows = 32 if number % 6 else 16
    return np.full((rows, 64), number, np.float32)


def report(weights):
    return float(jnp.sum(weights))


def train():
    weights = jnp.zeros((64, 8))
    for number in range(12):
        batch = jax.device_put(batch_of(number))
        weights = step(weights, batch)
        KEPT.append(batch)
        if number % 3 == 0:
            report(weights)  # often
    return weights


def load_table():
    return jax.device_put(np.ones((256, 256), np.float32))


def too_much():
    try:
        jnp.zeros((1 << 20, 1 << 20))
    except jax.errors.JaxRuntimeError:
        print("too much for the device")


loader = threading.Thread(target=load_table, name="loader")
loader.start()
loader.join()
print("trained:", train().shape)
too_much()
