"""The demo's program: a scalar to the device, and an array there and back. Nothing here knows of framedex."""

import jax
import numpy as np


def put_scalar():
    return jax.device_put(1)


def round_trip(array):
    return np.asarray(jax.device_put(array))


print("device_put(1) =", put_scalar(), "on", *jax.devices())
matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
print("2x3 float32 there and back, equal:", np.array_equal(round_trip(matrix), matrix))
