"""Programs with NaN or infinities. A comment names the op where it begins."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

MESH = Mesh(np.array(jax.devices()[:4]), ("x",))


def unused_nan(x):
    harmless = jnp.where(x > 0, jnp.log(x), 0.0)  # NaN, but never chosen

    def step(carry, y):
        return jnp.sqrt(carry - y), carry  # begins: sqrt

    return harmless + lax.scan(step, x + 9.0, jnp.full(5, 2.0))[0]


@jax.shard_map(mesh=MESH, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))
def in_shards(x):
    inverse = 1 / (x - 2)
    return lax.psum(x, "x") + (inverse - inverse)  # begins: subtract


def in_argument(x):
    return jnp.tanh(x) / jnp.inf


def overflowing(x):
    return jnp.abs(jnp.exp(x)) + x  # begins: exponential


if __name__ == "__main__":
    for f, x in (
        (unused_nan, np.arange(-2, 2, dtype=np.float32)),
        (in_shards, np.arange(4, dtype=np.float32)),
        (in_argument, np.array([1, np.nan], np.float32)),
        (overflowing, np.array([1, 100], np.float32)),
    ):
        print(np.asarray(jax.jit(f)(x)))
