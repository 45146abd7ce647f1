"""Start recording after everything is compiled: ffi_late.py LIBRARY."""

import ctypes
import json
import os
import sys

import ffi_examples
import jax
import jax.numpy as jnp
from jaxlib import xla_client

ffi_examples.register(sys.argv[1])
norm = jax.jit(ffi_examples.rms_norm)
x = jnp.ones((2, 4), jnp.float32)
norm(x).block_until_ready()
os.environ["FRAMEDEX_RECORD"] = "1"
ctypes.CDLL(None).setenv(b"FRAMEDEX_RECORD", b"1", 1)
xla_client._framedex_ffi.library.start_recording()
norm(x).block_until_ready()
print(json.dumps("ran"))
