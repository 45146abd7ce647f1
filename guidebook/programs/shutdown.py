"""What happens at the end of the process

Arrays and programs that are still there are destroyed while Python ends, then the client. Work may be on its way
then.
"""

import jax
import numpy as np

# step: Leave an array, a program, and work on its way
array = jax.device_put(np.ones((256, 256), np.float32))
power = jax.jit(lambda x: x @ x @ x)
on_its_way = power(array)

# step: Close the backends by hand
# At the end of the process JAX does the same, unless somebody did it before.
del array, on_its_way
jax.clear_caches()
jax.extend.backend.clear_backends() if hasattr(jax, "extend") else None

# step: Open them again, and let the process end
array = jax.device_put(np.ones((256, 256), np.float32))
on_its_way = jax.jit(lambda x: x @ x)(array)
