"""A failed compilation

The call itself returns the error. JAX raises it at the line that needed the program.
"""

import jax
import numpy as np

x = jax.device_put(np.ones(4, np.float32))

# step: A compilation that fails
try:
    jax.jit(lambda x: x * 3)(x)
except Exception as error:
    print(type(error).__name__, str(error)[:60])

# step: Compile at the same line again
# The failure is not cached: the line compiles now.
assert float(jax.jit(lambda x: x * 3)(x)[0]) == 3
