"""Compile a sharded matrix product for four v5e chips without devices, and print the compiler's statistics."""

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec

topology = topologies.get_topology_desc("v5e:2x2", platform="tpu")
mesh = topologies.make_mesh(topology, (2, 2), ("x", "y"))
sharding = NamedSharding(mesh, PartitionSpec("x", "y"))
square = jax.ShapeDtypeStruct((256, 256), jnp.float32, sharding=sharding)
product = jax.jit(lambda a, b: jnp.tanh(a @ b).sum()).trace(square, square).lower(lowering_platforms=("tpu",))
compiled = product.compile()
print(topology.devices[0].device_kind, len(topology.devices), int(compiled.cost_analysis()["flops"]))
