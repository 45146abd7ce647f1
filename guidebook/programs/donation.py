"""Donated arguments

`donate_argnums` gives the memory of an argument to the program, which may reuse it for a result. The argument is
deleted.
"""

import warnings

import jax
import numpy as np

step = jax.jit(lambda x: x * 0.5, donate_argnums=0)
x = jax.device_put(np.ones(1024, np.float32))

# step: A call that reuses its argument's memory
y = step(x)
y.block_until_ready()
assert x.is_deleted()

# step: Use the donated argument
# JAX raises an error without calling the plug-in.
try:
    x + 1
except RuntimeError as error:
    print(error)

# step: A loop in which each result reuses the memory of its argument
for _ in range(3):
    y = step(y)
y.block_until_ready()

# step: A donation that no result can use
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    total = jax.jit(lambda x: x.sum(), donate_argnums=0)(y)
    total.block_until_ready()
