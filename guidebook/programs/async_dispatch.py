"""What happens while the device works

Calls return before their work is done. JAX asks whether a result is ready, waits for one or for several, and chains
work on results that are not there yet.
"""

import threading

import jax
import numpy as np

gate = threading.Event()
held = jax.jit(lambda x: jax.pure_callback(lambda a: gate.wait(5) and np.asarray(a), x, x) + 1)
double = jax.jit(lambda x: x * 2)
x = jax.device_put(np.float32(1))
double(x).block_until_ready()

# step: Start work that is not done before somebody allows it
result = held(x)

# step: Ask whether it is ready
assert not result.is_ready()

# step: Start work on a result that is not there yet
chained = double(double(result))

# step: Let the work go on, and wait for the end of the chain
gate.set()
chained.block_until_ready()
assert result.is_ready() and float(chained) == 8

# step: Wait for several results
jax.block_until_ready([double(x) for _ in range(3)])
