"""Copies between devices

The program copies an array from one TPU to another, to JAX's CPU backend and back, and on the same device.
"""

import jax
import jax.numpy as jnp
import numpy as np

first, last = jax.devices()[0], jax.devices()[-1]
array = jax.device_put(np.arange(5, dtype=np.float32), first).block_until_ready()

# step: Copy to another device
there = jax.device_put(array, last)
there.block_until_ready()
assert there.devices() == {last}

# step: Copy on the same device
copied = jnp.copy(array)
copied.block_until_ready()

# step: Copy to the CPU backend
# Two plug-ins cannot copy directly: the bytes go through the host.
on_cpu = jax.device_put(array, jax.devices("cpu")[0])
on_cpu.block_until_ready()

# step: Copy back to the TPU
back = jax.device_put(on_cpu, last)
assert float(back[4]) == 4
