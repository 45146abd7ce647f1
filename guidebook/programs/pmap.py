"""`jax.pmap`

One program runs on several devices, each with its own part of the argument.
"""

import jax
import numpy as np

count = jax.local_device_count()
scale = jax.pmap(lambda x: x * 10)

# step: The first call
# Each row of the argument goes to one device.
rows = scale(np.arange(count, dtype=np.float32))

# step: The second call, with an argument already on the devices
again = scale(rows)

# step: Fetch the result
assert np.asarray(again)[-1] == (count - 1) * 100
