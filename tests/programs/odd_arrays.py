"""Send arrays whose dimensions and strides need few and many bytes, recorded into the given folder.

Prints the dimensions and strides of each.
"""

import json
import sys

import jax
import numpy as np

import framedex_native

arrays = [
    np.zeros(100, np.int8),
    np.zeros(200, np.int8),
    np.broadcast_to(np.int8(1), (70000, 3)),
    np.zeros((1 << 33, 0), np.int8),
    np.zeros((2, 3), np.float32)[::-1],
    np.zeros((2, 20000), np.float32)[::-1],
    np.float32(1),
]
jax.devices()
framedex_native.start(sys.argv[1])
for array in arrays:
    jax.device_put(array)
framedex_native.stop()
print(json.dumps([[array.shape, array.strides] for array in arrays]))
