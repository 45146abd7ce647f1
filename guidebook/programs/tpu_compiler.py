"""Compiling for a TPU without a TPU

libtpu describes a TPU slice that is not present, and compiles for it: five generations, from v3 to TPU7x.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def compiled_for(topology_name):
    """A product of matrices whose rows are spread over the slice."""
    topology = topologies.get_topology_desc(platform="tpu", topology_name=topology_name)
    rows = NamedSharding(Mesh(np.array(topology.devices), ("x",)), PartitionSpec("x"))
    x = jax.ShapeDtypeStruct((len(topology.devices) * 8, 128), jnp.bfloat16, sharding=rows)
    traced = jax.jit(lambda x: jnp.tanh(x @ x.T), out_shardings=rows).trace(x)
    return traced.lower(lowering_platforms=("tpu",)).compile()


# step: Compile for a v5e of 4x4 chips
compiled = compiled_for("v5e:4x4")

# step: Query costs, memory use and program text
print(compiled.memory_analysis().temp_size_in_bytes, len(compiled.as_text()))
assert compiled.cost_analysis()

# step: Compile for a v3
compiled_for("v3:2x2")

# step: Compile for a v5p
compiled_for("v5p:2x2x2")

# step: Compile for a v6e
compiled_for("v6e:2x4")

# step: Compile for a TPU7x
compiled_for("tpu7x:2x2x1")

# step: Look for devices
# The client reports an error, because there are none.
try:
    jax.devices("tpu")
except RuntimeError as error:
    print(str(error)[:200])
