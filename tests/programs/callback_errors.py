"""Host callbacks that raise: in the program's own line, and with a longer traceback than a message may have."""

import jax
import jax.numpy as jnp
import numpy as np

SHAPE = jax.ShapeDtypeStruct((2,), np.float32)


def raises(_value):
    raise ValueError("bad value")


def descends_ein_größerer_weg_ändert_nichts(depth):
    if depth == 0:
        raise KeyError("ä" * 40)
    descends_ein_größerer_weg_ändert_nichts(depth - 1)
    return depth


def deep(_value):
    return descends_ein_größerer_weg_ändert_nichts(60)


for callback in (raises, deep):
    try:
        jax.jit(lambda x, callback=callback: jax.pure_callback(callback, SHAPE, x))(jnp.ones(2)).block_until_ready()
    except jax.errors.JaxRuntimeError:
        continue
    raise AssertionError("it did not fail")
