"""Host callbacks

A program on the device calls a Python function: for its value (`pure_callback`), or for its side effects
(`io_callback`, `debug.callback`).
"""

import jax
import numpy as np
from jax.experimental import io_callback

x = jax.device_put(np.arange(4, dtype=np.float32))
shape = jax.ShapeDtypeStruct((4,), np.float32)
seen = []

# step: A callback that returns a value
sine = jax.jit(lambda x: jax.pure_callback(lambda a: np.sin(np.asarray(a)), shape, x) + 1)
sine(x).block_until_ready()

# step: Run the same program again
sine(x).block_until_ready()

# step: An ordered callback with side effects
written = jax.jit(lambda x: io_callback(lambda a: seen.append(float(np.sum(a))), None, x, ordered=True))
written(x)
jax.effects_barrier()

# step: A callback for debugging
printed = jax.jit(lambda x: jax.debug.callback(lambda a: seen.append(a.shape), x))
printed(x)
jax.effects_barrier()
assert len(seen) == 2


# step: A callback that raises
def refuse(values):
    raise ValueError("this callback always fails")


try:
    jax.jit(lambda x: jax.pure_callback(refuse, shape, x))(x).block_until_ready()
except Exception as error:
    print(type(error).__name__)
