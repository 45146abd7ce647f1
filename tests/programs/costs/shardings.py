"""Results sharded over 8 devices in several ways; prints the bytes of each on the first device."""

import json
import sys

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_use_shardy_partitioner", sys.argv[1] == "shardy")
mesh = jax.make_mesh((2, 4), ("x", "y"))
WAYS = [(), ("x",), (None, "y"), ("x", "y"), (("x", "y"),), (None, ("x", "y"))]
shardings = tuple(NamedSharding(mesh, PartitionSpec(*way)) for way in WAYS)
spread = jax.jit(lambda a: tuple(a + n for n in range(len(WAYS))), out_shardings=shardings)
results = spread(jax.device_put(np.ones((8, 16), np.float32), shardings[1]))
print(json.dumps([each.addressable_shards[0].data.nbytes for each in results]))
