"""What happens on a host callback

A program on the device calls a function of Python: for a value (`pure_callback`), or for what it does (`io_callback`,
`debug.callback`).
"""

import jax
import numpy as np
from jax.experimental import io_callback

x = jax.device_put(np.arange(4, dtype=np.float32))
shape = jax.ShapeDtypeStruct((4,), np.float32)
seen = []

# step: A callback that gives a value
sine = jax.jit(lambda x: jax.pure_callback(lambda a: np.sin(np.asarray(a)), shape, x) + 1)
sine(x).block_until_ready()

# step: The same program again
sine(x).block_until_ready()

# step: A callback that does something, in order
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
