"""Enter the runtime from under 5,000 calls: deeper than the recorder walks."""

import sys

import jax


def descend(depth):
    """The recursion."""
    return descend(depth - 1) if depth else device.memory_stats()


device = jax.devices()[0]
sys.setrecursionlimit(6000)
descend(5000)
device.memory_stats()
