"""What happens on DLPack and on pointers to device memory

Other libraries take an array by its address, as DLPack or by `unsafe_buffer_pointer`. The runtime has to keep the
memory as long as they use it.
"""

import jax
import numpy as np

array = jax.device_put(np.arange(8, dtype=np.float32)).block_until_ready()

# step: Ask for an array's address on its device
pointer = array.unsafe_buffer_pointer()
assert pointer

# step: Ask for its size there
assert array.on_device_size_in_bytes() == 32 if hasattr(array, "on_device_size_in_bytes") else True

# step: Hand it out as DLPack
# JAX hands out arrays of CPUs and GPUs only.
try:
    capsule = array.__dlpack__()
    assert capsule is not None
except Exception as error:
    print(type(error).__name__, str(error)[:80])

# step: Take an array of NumPy by DLPack
taken = jax.device_put(jax.dlpack.from_dlpack(np.arange(4, dtype=np.float32)), jax.devices()[0])
assert float(taken[3]) == 3
