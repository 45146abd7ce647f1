"""Process exit

When Python exits, it destroys the remaining arrays and programs, then the client. Work may still be pending.
"""

import jax
import numpy as np

# step: Leave an array, a program and pending work
array = jax.device_put(np.ones((256, 256), np.float32))
power = jax.jit(lambda x: x @ x @ x)
on_its_way = power(array)

# step: Close the backends explicitly
# JAX does the same at exit, unless it was done before.
del array, on_its_way
jax.clear_caches()
jax.extend.backend.clear_backends() if hasattr(jax, "extend") else None

# step: Reopen the backends and exit
array = jax.device_put(np.ones((256, 256), np.float32))
on_its_way = jax.jit(lambda x: x @ x)(array)
