"""Register more targets than there are trampolines, and then one that is used: ffi_pool.py LIBRARY."""

import ctypes
import json
import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np

jax.devices()
functions = ctypes.CDLL(sys.argv[1])
for number in range(2500):
    jax.ffi.register_ffi_target(f"target {number}", jax.ffi.pycapsule(functions.RmsNorm), platform="cpu")
jax.ffi.register_ffi_target("rms_norm", jax.ffi.pycapsule(functions.RmsNorm), platform="cpu")
x = jnp.ones((1, 2), jnp.float32)
for name in ("target 1", "rms_norm"):
    y = jax.ffi.ffi_call(name, ffi_examples.like(x))(x, eps=np.float32(0))
print(json.dumps(np.asarray(y)[0].tolist()))
