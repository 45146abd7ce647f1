"""A callback waits for a line of stdin, while the main thread waits for its result."""

import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    print("waits", flush=True)
    input()
    return x


@jax.jit
def step(x):
    return jax.pure_callback(host, jax.ShapeDtypeStruct((4,), np.float32), x)


step(jnp.ones(4)).block_until_ready()
print("ready", flush=True)
input()
