"""Threads copy results from one device to another, all at the same time."""

import threading

import jax
import jax.numpy as jnp

here, there = jax.devices()[:2]
twice = jax.jit(lambda x: x * 2.0)
start = jax.device_put(jnp.ones(100, jnp.float32), here)


def work():
    for _ in range(5_000):
        jax.device_put(twice(start), there)


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
