"""What happens on ahead-of-time compilation: `lower`, `compile`, and what can be asked of the result

A program is lowered, compiled and asked for its costs, its memory and its text; then it is written as bytes and
loaded from them.
"""

import pickle

import jax
import numpy as np
from jax.experimental import serialize_executable

shape = jax.ShapeDtypeStruct((8, 8), np.float32)
x = jax.device_put(np.eye(8, dtype=np.float32))

# step: Lower
# The plug-in has no part in it: JAX makes the program by itself.
lowered = jax.jit(lambda x: (x @ x, x.sum())).lower(shape)

# step: Compile
compiled = lowered.compile()

# step: Ask for costs
costs = compiled.cost_analysis()

# step: Ask for memory
sizes = compiled.memory_analysis()

# step: Ask for the optimized program
text = compiled.as_text()
print(costs is not None, sizes is not None, len(text or ""))

# step: Call it
square, total = compiled(x)
assert float(total) == 8

# step: Write it as bytes
payload = pickle.dumps(serialize_executable.serialize(compiled))

# step: Load it from bytes
# It is not compiled again.
read = serialize_executable.deserialize_and_load(*pickle.loads(payload), execution_devices=jax.devices()[:1])
assert float(read(x)[1]) == 8
