"""First, second and later calls of `jax.jit`

The first call traces, compiles and loads the program. The second only executes it. An argument of another shape
requires another program.
"""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def layer(x, weights):
    return jnp.tanh(x @ weights)


x = jax.device_put(np.ones((4, 8), np.float32))
weights = jax.device_put(np.ones((8, 8), np.float32))

# step: The first call
# It compiles, then queries the properties of the executable.
first = layer(x, weights)
first.block_until_ready()

# step: The second call
second = layer(x, weights)
second.block_until_ready()

# step: A call with another shape
other = layer(jax.device_put(np.ones((2, 8), np.float32)), weights)
other.block_until_ready()

# step: A call with a host array
# JAX first puts the argument on the device.
from_host = layer(np.ones((4, 8), np.float32), weights)
from_host.block_until_ready()

# step: Release the programs
layer.clear_cache()
del layer
