"""Calls handlers of `handlers.cc` on the CPU, each on its own thread: handler.py LIBRARY NAME [NAME|counting]."""

import ctypes
import itertools
import sys
import threading

import jax
import jax.numpy as jnp

library = ctypes.cdll.LoadLibrary(sys.argv[1])
first, *others = sys.argv[2:]


def call(name):
    x = jnp.ones(4)
    y = jax.jit(lambda z: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((4,), jnp.float32))(z))(x)  # calls the handler
    y.block_until_ready()


def count():
    """Needs the GIL all the time."""
    for _ in itertools.count():
        pass


for name in {first, *others} - {"counting"}:
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, f"{name}Handler")), platform="cpu")
for other in others:
    target, arguments = (count, ()) if other == "counting" else (call, (other,))
    threading.Thread(target=target, args=arguments, daemon=True).start()
call(first)
