"""Move an array between devices over the network, as between hosts, and lower a program for described devices.

The lowered program has a value in host memory.
"""

import json

import jax
import numpy as np
from jax.experimental import topologies, transfer
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

first, second = jax.devices()
values = np.arange(1000, dtype=np.float32)
sender = transfer.start_transfer_server(first.client, "127.0.0.1:0", ["127.0.0.1:0"])
receiver = transfer.start_transfer_server(first.client, "127.0.0.1:0", ["127.0.0.1:0"])
sender.await_pull(7, [jax.device_put(values, first)])
wanted = jax.ShapeDtypeStruct(values.shape, values.dtype, sharding=SingleDeviceSharding(second))
(pulled,) = receiver.connect(sender.address()).pull(7, [wanted])

described = topologies.get_topology_desc("v5e:2x2", "tpu")
devices = np.array(described.devices)
host = NamedSharding(Mesh(devices, ("x",)), PartitionSpec("x"), memory_kind="pinned_host")
lowered = jax.jit(lambda x: x + 1, out_shardings=host).lower(jax.ShapeDtypeStruct((8,), np.float32, sharding=host))
print(
    json.dumps(
        {
            "pulled": np.array_equal(pulled, values),
            "device": pulled.devices() == {second},
            "memories": [memory.kind for memory in devices[0].addressable_memories()],
            "default": devices[0].default_memory().kind,
            "lowered": "pinned_host" in lowered.as_text(),
        }
    )
)
