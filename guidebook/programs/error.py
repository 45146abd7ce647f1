"""Running out of device memory

The plug-in returns an error object. JAX queries its code and message, destroys it, and raises an exception. The device
has 8 MiB of memory here.
"""

import jax
import numpy as np

x = jax.device_put(np.ones(4, np.float32))

# step: An array that is too large for the device
try:
    jax.device_put(np.ones((1 << 22,), np.float32)).block_until_ready()
except Exception as error:
    print(type(error).__name__, str(error)[:60])

# step: A result that is too large for the device
try:
    jax.jit(lambda x: jax.numpy.zeros((1 << 24,), np.float32) + x[0])(x).block_until_ready()
except Exception as error:
    print(type(error).__name__, str(error)[:60])

# step: The process stays usable
assert float(jax.jit(lambda x: x.sum())(x)) == 4
