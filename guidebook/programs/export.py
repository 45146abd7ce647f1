"""`jax.export`

The program exports a function as StableHLO bytes and calls it. The export needs no device. The call compiles as
usual.
"""

import jax
import numpy as np
from jax import export

# step: Export a program
exported = export.export(jax.jit(lambda x: x * 2 + 1))(jax.ShapeDtypeStruct((4,), np.float32))

# step: Inspect the exported program
assert "stablehlo" in exported.mlir_module() and exported.nr_devices == 1

# step: Call the exported program
x = jax.device_put(np.ones(4, np.float32))
assert float(jax.jit(exported.call)(x)[0]) == 3

# step: Export for another platform
other = export.export(jax.jit(lambda x: x + 1), platforms=("cpu", "tpu"))(jax.ShapeDtypeStruct((4,), np.float32))
assert other.platforms == ("cpu", "tpu")
