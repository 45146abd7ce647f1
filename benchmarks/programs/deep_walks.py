"""Take random walks through forty functions. Each walk ends in an operation of JAX, which runs eight times.

Walks share their first steps, so the program makes about twelve new stacks per walk: `deep_walks.py WALKS DEPTH`.
"""

import random
import sys

import jax
import jax.numpy as jnp
import numpy as np

FUNCTIONS = 40
SOURCE = """
def f{i}(depth, x):
    if not depth:
        return [OPERATIONS[R.getrandbits(2)](x) for _ in range(8)]
    step = R.getrandbits(3)
    if step < 4:
        return F[R.getrandbits(5)](depth - 1, x)
    if step < 6:
        return F[8 + R.getrandbits(5)](depth - 1, x)
    return g{i}(depth, x)


def g{i}(depth, x):
    return F[R.getrandbits(5)](depth - 1, x)
"""

R = random.Random(0)
exec(compile("\n".join(SOURCE.format(i=i) for i in range(FUNCTIONS)), __file__, "exec"), globals())
F = [globals()[f"f{i}"] for i in range(FUNCTIONS)]
OPERATIONS = [jax.device_put, jnp.sin, jax.jit(lambda x: x + 1), np.asarray]
x = jnp.ones(4)
for _ in range(int(sys.argv[1])):
    F[R.getrandbits(5)](int(sys.argv[2]), x)
