"""Array layouts

A layout is the order of an array's elements in memory. It can be set for an array, for arguments and for results, or
left to the compiler.
"""

import jax
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

sharding = SingleDeviceSharding(jax.devices()[0])
values = np.arange(6, dtype=np.float32).reshape(2, 3)

# step: Put an array in another layout
columns = jax.device_put(values, Format(Layout((1, 0)), sharding))
columns.block_until_ready()

# step: Query the layout of an array
assert columns.format.layout.major_to_minor == (1, 0)

# step: Fetch the array
assert np.array_equal(np.asarray(columns), values)

# step: Set the layout of a result
transposed = jax.jit(lambda x: x + 1, out_shardings=Format(Layout((1, 0)), sharding))(values)
transposed.block_until_ready()

# step: Leave layouts to the compiler
automatic = jax.jit(lambda x: x.T @ x, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
compiled = automatic.lower(jax.ShapeDtypeStruct((2, 3), np.float32)).compile()
(arguments,), _ = compiled.input_formats
compiled(jax.device_put(values, arguments)).block_until_ready()
