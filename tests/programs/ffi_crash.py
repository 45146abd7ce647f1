"""Crash in a handler: ffi_crash.py LIBRARY HOW [faulthandler|faulthandler late|own handler]."""

import ctypes
import faulthandler
import signal
import sys

import ffi_examples
import jax
import jax.numpy as jnp

how, watcher = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
if watcher == "faulthandler":
    faulthandler.enable()
ffi_examples.register(sys.argv[1])
if watcher == "faulthandler late":
    faulthandler.enable()
x = jnp.ones((2, 2), jnp.float32)
ffi_examples.fail(x, "not").block_until_ready()
if how == "outside":
    signal.raise_signal(signal.SIGSEGV)
if how == "after":
    ctypes.string_at(0)


def step(y):
    return ffi_examples.fail(y @ y, how)


print(jax.jit(step)(x))
