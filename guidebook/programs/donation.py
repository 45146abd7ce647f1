"""What happens to an argument that is donated

`donate_argnums` hands an argument's memory to the program, which may put its result there. The argument is gone then.
"""

import warnings

import jax
import numpy as np

step = jax.jit(lambda x: x * 0.5, donate_argnums=0)
x = jax.device_put(np.ones(1024, np.float32))

# step: A call that takes its argument's memory
y = step(x)
y.block_until_ready()
assert x.is_deleted()

# step: Use what was donated
# JAX knows by itself: the plug-in is not asked to run anything.
try:
    x + 1
except RuntimeError as error:
    print(error)

# step: A loop in which each result takes the place of its argument
for _ in range(3):
    y = step(y)
y.block_until_ready()

# step: A donation that no result can use
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    total = jax.jit(lambda x: x.sum(), donate_argnums=0)(y)
    total.block_until_ready()
