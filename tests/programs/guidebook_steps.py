"""What happens on a put and a fetch.

An array goes to the device, through a program, and back.
"""

import jax
import numpy


def twice(array: jax.Array) -> jax.Array:
    doubled: jax.Array = jax.jit(lambda x: x + x)(array)
    return doubled


# step: Put an array
# Its bytes are copied.
#
# Then they are there.
array = jax.device_put(numpy.arange(8, dtype=numpy.float32))
array.block_until_ready()

for _ in range(3):
    # step: Run a program in a loop
    array = twice(array)

# step: Fetch the result
fetched = numpy.asarray(array)

# step: Ask for more than there is
try:
    jax.numpy.zeros(1 << 42, dtype=numpy.float32).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    print(str(error).split(":")[0])

# step: Say nothing to the runtime
print(fetched.sum())

# step: The program ends
# Everything is destroyed.
