"""Call targets in every wrong way: ffi_missing.py LIBRARY. Prints the lines of the calls."""

import ctypes
import json
import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np

LINES = {}
ffi_examples.register(sys.argv[1])
elsewhere = jax.ffi.pycapsule(ctypes.CDLL(sys.argv[1]).RmsNorm)
jax.ffi.register_ffi_target("elsewhere", elsewhere, platform="CUDA")
x = jnp.ones((2, 4), jnp.float32)


def call(name, target, *args, **attributes):
    LINES[name] = sys._getframe(1).f_lineno
    return jax.ffi.ffi_call(target, ffi_examples.like(x))


def fails(action):
    try:
        jax.block_until_ready(action())
    except jax.errors.JaxRuntimeError:
        return
    raise AssertionError("it did not fail")


fails(lambda: call("nowhere", "nowhere")(x))
fails(lambda: jax.jit(lambda y: call("elsewhere", "elsewhere")(y) + 1)(x))
fails(lambda: call("too many", "rms_norm")(x, x, eps=np.float32(1)))
fails(lambda: call("wrong attribute", "rms_norm")(x, epsilon=np.float32(1)))
fails(lambda: call("wrong attribute type", "rms_norm")(x, eps=1.0))
fails(lambda: call("wrong attribute kind", "rms_norm")(x, eps=np.array([1, 2], np.int64)))
fails(lambda: call("wrong dtype", "rms_norm")(x.astype(jnp.int32), eps=np.float32(1)))
print(json.dumps(LINES))
