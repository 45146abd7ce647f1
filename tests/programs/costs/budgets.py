"""Compile a function three times on one line and another once, make implicit transfers, and hold memory.

With the argument `wait`, it continues after a line on stdin; with `often`, it runs a program 3,000 more times.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 0.1 * x.sum()


@jax.jit
def evaluate(w):
    return (w * w).sum()


def train(sizes):
    w = jax.device_put(np.zeros(1024, np.float32))
    for size in sizes:
        w = step(w, np.ones(size, np.float32))
    return w


def main():
    held = [train([1, 2, 3]), jnp.ones(4096, jnp.float32)]
    print(float(evaluate(held[0])))
    again = evaluate(held[0])
    if sys.argv[1:] == ["often"]:
        for _ in range(3000):
            again = evaluate(held[0])
    if sys.argv[1:] == ["wait"]:
        print("ready", flush=True)
        sys.stdin.readline()
    return again


main()
