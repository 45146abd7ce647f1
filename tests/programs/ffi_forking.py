"""Call handlers in a process and, only through ctypes, in a forked child: ffi_forking.py LIBRARY."""

import json
import os
import sys

import ffi_examples
import jax
import jax.numpy as jnp

ffi_examples.register(sys.argv[1])
norm = jax.jit(ffi_examples.rms_norm).lower(jnp.ones((2, 4), jnp.float32)).compile()
x = jnp.ones((2, 4), jnp.float32)
norm(x).block_until_ready()
child = os.fork()
if child == 0:
    norm(x).block_until_ready()
    os._exit(0)
_, status = os.waitpid(child, 0)
print(json.dumps("joined" if status == 0 else status))
