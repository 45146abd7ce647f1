"""A process of a job that trains together: `training_job.py STEPS COUNT PORT [FAULTS]`, its rank in FRAMEDEX_RANK.

Only rank 0 stores weights. Faults: with "shape", rank 2 reads a batch of fewer rows in step 20. With "slow", rank 1
loads each batch for 50 ms. With "reading", all ranks read the value of each step; with "blocking", they wait for it.
"""

import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

steps, count, port = map(int, sys.argv[1:4])
faults = sys.argv[4:]
rank = int(os.environ["FRAMEDEX_RANK"])
jax.distributed.initialize(f"localhost:{port}", count, rank)
mesh = jax.make_mesh((jax.device_count(),), ("data",))
by_row = NamedSharding(mesh, PartitionSpec("data"))
everywhere = NamedSharding(mesh, PartitionSpec())


@jax.jit
def step(weights, batch):
    value, gradient = jax.value_and_grad(lambda weights: jnp.mean(jnp.tanh(batch @ weights) ** 2))(weights)
    return weights - 0.1 * gradient, value


@jax.jit
def largest(batch):
    return jnp.max(jnp.abs(batch))


def load(number):
    if "slow" in faults and rank == 1:
        time.sleep(0.05)
    return np.full((8, 64), number, np.float32)


def look_at(number):
    rows = 7 if "shape" in faults and rank == 2 and number == 20 else 8
    return float(largest(np.full((rows, 64), number, np.float32)))


def keep(weights):
    np.save(f"weights-{port}.npy", np.asarray(weights.addressable_data(0)))


def train():
    weights = jax.device_put(np.ones((64, 8), np.float32), everywhere)
    for number in range(steps):
        batch = jax.make_array_from_process_local_data(by_row, load(number))
        weights, value = step(weights, batch)
        if "reading" in faults:
            float(value)
        if "blocking" in faults:
            value.block_until_ready()
        if number % 10 == 0:
            look_at(number)
            float(value)
            if rank == 0:
                keep(weights)


train()
jax.distributed.shutdown()
