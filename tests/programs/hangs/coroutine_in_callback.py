"""A coroutine blocks the event loop until a result is ready, whose callback needs the event loop."""

import asyncio

import jax
import jax.numpy as jnp
import numpy as np


async def send(x):
    return x


async def train():
    loop = asyncio.get_running_loop()

    def host(x):
        return asyncio.run_coroutine_threadsafe(send(x), loop).result()  # callback blocks

    step = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((4,), np.float32), x))
    step(jnp.ones(4)).block_until_ready()  # blocks


asyncio.run(train())
