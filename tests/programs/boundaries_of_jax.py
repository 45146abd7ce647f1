"""Compiles and runs a program on each of four threads; prints the results."""

import json
import threading

import jax
import jax.numpy as jnp

results: dict[int, float] = {}


def work(size: int) -> None:
    """Compile a program of its own."""
    results[size] = float(jax.jit(lambda matrix: (matrix @ matrix).sum())(jnp.ones((size, size))))


threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 4, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(sorted(results.values())))
