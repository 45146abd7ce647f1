"""What happens on copies between devices

An array goes from one TPU to another, to the CPU's own backend and back, and is copied on its device.
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

# step: Copy to the CPU's own backend
# Two plug-ins have no common road: the bytes go through the host.
on_cpu = jax.device_put(array, jax.devices("cpu")[0])
on_cpu.block_until_ready()

# step: Copy back from there
back = jax.device_put(on_cpu, last)
assert float(back[4]) == 4
