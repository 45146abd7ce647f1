"""Put a scalar onto the first device of each given backend, and print the device's platform and the scalar."""

import sys

import jax
import numpy as np

for backend in sys.argv[1:]:
    device = jax.devices(backend)[0]
    print(device.platform, np.asarray(jax.device_put(np.float32(1.5), device)))
