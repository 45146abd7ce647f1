"""Failed asynchronous work

The call itself succeeds. The event of its results delivers the error.
"""

import jax
import numpy as np

x = jax.device_put(np.ones(4, np.float32))
double = jax.jit(lambda x: x * 2)

# step: Start work that will fail
results = [double(x) for _ in range(3)]

# step: Wait for the results
for result in results:
    try:
        result.block_until_ready()
    except Exception as error:
        print(type(error).__name__, str(error)[:60])

# step: Use a failed result
try:
    print(float(double(results[-1])[0]))
except Exception as error:
    print(type(error).__name__, str(error)[:60])
