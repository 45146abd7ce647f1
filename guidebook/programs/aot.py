"""Ahead-of-time compilation: `lower`, `compile` and the compiled object

The program lowers and compiles a function. It queries the costs, memory use and text of the executable, serializes
the executable and loads it again.
"""

import pickle

import jax
import numpy as np
from jax.experimental import serialize_executable

shape = jax.ShapeDtypeStruct((8, 8), np.float32)
x = jax.device_put(np.eye(8, dtype=np.float32))

# step: Lower
# JAX lowers the function itself, without the plug-in.
lowered = jax.jit(lambda x: (x @ x, x.sum())).lower(shape)

# step: Compile
compiled = lowered.compile()

# step: Query the costs
costs = compiled.cost_analysis()

# step: Query the memory use
sizes = compiled.memory_analysis()

# step: Query the optimized program
text = compiled.as_text()
print(costs is not None, sizes is not None, len(text or ""))

# step: Call the executable
square, total = compiled(x)
assert float(total) == 8

# step: Serialize the executable
payload = pickle.dumps(serialize_executable.serialize(compiled))

# step: Load the serialized executable
# Nothing is compiled.
read = serialize_executable.deserialize_and_load(*pickle.loads(payload), execution_devices=jax.devices()[:1])
assert float(read(x)[1]) == 8
