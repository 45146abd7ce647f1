"""One process of a job in which rank 2 never arrives at the fourth step: `absent_rank.py RANK COUNT PORT`."""

import queue
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

rank, count, port = map(int, sys.argv[1:])
jax.distributed.initialize(f"localhost:{port}", count, rank)
mesh = jax.make_mesh((jax.device_count(),), ("data",))
by_row, everywhere = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
batches = queue.Queue()


@jax.jit
def step(weights, batch):
    return weights - 0.1 * jnp.mean(jnp.tanh(batch @ weights) ** 2)


def load(number):
    if (rank, number) == (2, 3):
        batches.get()  # loader blocks
    return jax.make_array_from_process_local_data(by_row, np.full((8, 64), number, np.float32))


weights = jax.device_put(np.ones((64, 8), np.float32), everywhere)
for number in range(100):
    weights = step(weights, load(number))  # trains
    if rank == 0:
        print(number, flush=True)
    float(weights.addressable_data(0)[0, 0])  # blocks
