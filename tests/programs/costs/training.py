"""A training loop with costs: it recompiles, moves data, retains results and waits for some."""

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main():
    params = {"w": jnp.zeros((64, 8)), "b": jnp.zeros(8)}
    kept = []
    for number in range(30):
        size = 32 if number % 10 else 16 + number
        x = np.ones((size, 64), np.float32)
        y = np.ones((size, 8), np.float32)
        params = step(params, x, y)
        kept.append(jnp.sum(params["w"]))
        if number % 5 == 0:
            print(number, float(kept[-1]))


main()
