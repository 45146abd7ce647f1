"""A callback that sleeps, as one that writes a checkpoint may."""

import time

import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    time.sleep(10_000)  # callback sleeps
    return x


@jax.jit
def step(x):
    return jax.pure_callback(host, jax.ShapeDtypeStruct((4,), np.float32), x)


print(step(jnp.ones(4)).sum())  # waits
