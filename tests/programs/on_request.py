"""Execute the commands on stdin, and answer each with a line when it is done.

`put` moves some arrays, `compile` compiles and runs a program, and `wait` runs one that calls back. For `wait`, the
answer `waiting` comes from inside the callback while another thread waits for the result; the next line lets it
continue.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def put(count=30):
    for _ in range(count):
        jax.device_put(ARRAY)


def answer(text):
    print(text, flush=True)


def called_back(value):
    answer("waiting")
    sys.stdin.readline()
    return value


def wait():
    shape = jax.ShapeDtypeStruct(ARRAY.shape, ARRAY.dtype)
    np.asarray(jax.jit(lambda x: io_callback(called_back, shape, x))(ARRAY))


def program(number):
    return jax.jit(lambda x: jnp.sin(x) * number)(ARRAY).block_until_ready()


for number, line in enumerate(iter(sys.stdin.readline, "")):
    if line == "put\n":
        put()
    elif line == "compile\n":
        program(number)
    elif line == "wait\n":
        wait()
    answer("done")
