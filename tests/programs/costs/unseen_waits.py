"""Waits whose end is not visible in calls: `barrier` waits for a callback, `deadlock` until the process is killed.

In `killed`, a callback ends the process, while `effects_barrier` waits for it.
"""

import os
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

lock = threading.Lock()


def barrier():
    def slow(_):
        time.sleep(0.3)

    @jax.jit
    def step(x):
        jax.debug.callback(slow, x.sum())
        return x + 1

    step(jnp.ones(4))  # its callback takes 300 ms
    jax.effects_barrier()


def killed():
    @jax.jit
    def step(x):
        jax.debug.callback(lambda _: os.kill(os.getpid(), signal.SIGKILL), x.sum())
        return x + 1

    step(jnp.ones(4))
    jax.effects_barrier()


def deadlock():
    def log(value):
        with lock:
            return np.float32(value)

    @jax.jit
    def step(x):
        return io_callback(log, jax.ShapeDtypeStruct((), jnp.float32), x.sum())

    with lock:
        result = step(jnp.ones(4))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
        result.block_until_ready()  # never ends


globals()[sys.argv[1]]()
