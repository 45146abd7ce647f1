"""A short program: arrays to the device and back, a loop, a deletion, and one array that is too large."""

import jax
import numpy as np

kept = jax.device_put(np.arange(6, dtype=np.float32).reshape(2, 3))
print(np.asarray(kept))
for _ in range(50):
    jax.device_put(np.zeros(4, np.int8))
deleted = jax.device_put(np.zeros((), np.int32))
deleted.delete()
try:
    jax.device_put(np.zeros(1 << 21, np.int8))
except jax.errors.JaxRuntimeError as error:
    print(error)
