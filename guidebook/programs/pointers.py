"""DLPack and pointers to device memory

Other libraries access an array by its address, through DLPack or `unsafe_buffer_pointer`. The runtime keeps the memory
alive while they use it.
"""

import jax
import numpy as np

array = jax.device_put(np.arange(8, dtype=np.float32)).block_until_ready()

# step: Query the device address of an array
pointer = array.unsafe_buffer_pointer()
assert pointer

# step: Query the size on the device
assert array.on_device_size_in_bytes() == 32 if hasattr(array, "on_device_size_in_bytes") else True

# step: Export the array through DLPack
# JAX exports only CPU and GPU arrays.
try:
    capsule = array.__dlpack__()
    assert capsule is not None
except Exception as error:
    print(type(error).__name__, str(error)[:80])

# step: Import a NumPy array through DLPack
taken = jax.device_put(jax.dlpack.from_dlpack(np.arange(4, dtype=np.float32)), jax.devices()[0])
assert float(taken[3]) == 3
