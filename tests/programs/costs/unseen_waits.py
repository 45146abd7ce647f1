"""Waits whose end is not visible in calls: `barrier` waits for a callback, `deadlock` until the process is killed.

In `exits`, the process exits during a deadlock. In `killed`, a callback ends it, while `effects_barrier` waits for it.
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
    def end(_):
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)

    @jax.jit
    def step(x):
        jax.debug.callback(end, x.sum())
        return x + 1

    step(jnp.ones(4))  # its callback ends the process
    jax.effects_barrier()


def deadlock():
    wait_forever(os.kill, os.getpid(), signal.SIGKILL)


def exits():
    wait_forever(os._exit, 0)


def wait_forever(end, *arguments):
    def log(value):
        with lock:
            return np.float32(value)

    @jax.jit
    def step(x):
        return io_callback(log, jax.ShapeDtypeStruct((), jnp.float32), x.sum())

    with lock:
        result = step(jnp.ones(4))  # never ends
        threading.Timer(0.3, end, arguments).start()
        result.block_until_ready()  # waits forever


globals()[sys.argv[1]]()
