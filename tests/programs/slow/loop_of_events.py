"""An event loop waits for a connection while a task sleeps."""

import asyncio

import jax
import numpy as np


async def serve():
    await asyncio.gather(asyncio.sleep(10_000), asyncio.Event().wait())


jax.device_put(np.ones(4))
asyncio.run(serve())  # polls
