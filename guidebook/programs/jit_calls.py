"""What happens on the first, the second and a later call of `jax.jit`

The first call traces, compiles and loads the program. The second one only executes it. An argument of another shape
is another program.
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
# It asks for a compilation, then for all that JAX wants to know of the executable.
first = layer(x, weights)
first.block_until_ready()

# step: The second call
second = layer(x, weights)
second.block_until_ready()

# step: A call with another shape
other = layer(jax.device_put(np.ones((2, 8), np.float32)), weights)
other.block_until_ready()

# step: A call with an array of the host
# The argument is put on the device on the way.
from_host = layer(np.ones((4, 8), np.float32), weights)
from_host.block_until_ready()

# step: Give the programs up
layer.clear_cache()
del layer
