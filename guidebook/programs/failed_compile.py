"""What happens when a compilation fails

The error comes from the call itself; JAX raises it at the line that needed the program.
"""

import jax
import numpy as np

x = jax.device_put(np.ones(4, np.float32))

# step: A compilation that fails
try:
    jax.jit(lambda x: x * 3)(x)
except Exception as error:
    print(type(error).__name__, str(error)[:60])

# step: The same line again
# Nothing of the failure is kept: it compiles now.
assert float(jax.jit(lambda x: x * 3)(x)[0]) == 3
