"""Call back to the host in every way, with several operands and results, and with none; print the count of each."""

import json
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

ran = Counter()
SHAPES = (jax.ShapeDtypeStruct((2,), np.float32), jax.ShapeDtypeStruct((3,), np.float32))


def host(*_operands):
    ran["jax.pure_callback"] += 1
    return np.zeros(2, np.float32), np.ones(3, np.float32)


def note(name):
    return lambda *_: ran.update([name])


@jax.jit
def several(a, b, c):
    return jax.pure_callback(host, SHAPES, a, b, c)


@jax.jit
def ordered():
    io_callback(note("jax.experimental.io_callback"), None, ordered=True)
    io_callback(note("jax.experimental.io_callback"), None, ordered=True)
    return 1


@jax.jit
def loop(values):
    def body(sum_so_far, value):
        jax.debug.callback(note("jax.debug.callback"), value)
        return sum_so_far + value, value

    return jax.lax.scan(body, 0.0, values)


for _ in range(2):
    several(jnp.ones(2), jnp.ones(3), jnp.ones(4))
ordered()
loop(jnp.arange(4.0))
jax.effects_barrier()
print(json.dumps(ran))
