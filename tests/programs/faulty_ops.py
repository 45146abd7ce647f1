"""One execution of each program. A comment names the op whose result a test alters, and its kind."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESH = Mesh(np.array(jax.devices()[:4]), ("x",))
ROWS = NamedSharding(MESH, PartitionSpec("x"))
SOURCE = np.random.default_rng(0)
VECTOR = SOURCE.normal(size=8).astype(np.float32)
MATRIX = SOURCE.normal(size=(8, 8)).astype(np.float32)
over_rows = partial(jax.shard_map, mesh=MESH, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))


def elementwise(x):
    y = x * 2
    return jnp.exp(y) + y  # fault: exponential


def contraction(x):
    y = x + 1
    return jnp.tanh(y @ y.T)  # fault: dot_general


def softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    weights = jnp.exp(shifted)
    return weights / weights.sum(axis=-1, keepdims=True)  # fault: divide


def layer_norm(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)  # fault: rsqrt
    return centred * deviation


def attention(x):
    scores = jnp.where(jnp.tri(8, dtype=bool), x @ x.T, -jnp.inf)  # fault: dot_general
    return jax.nn.softmax(scores) @ x


def gradient(x):
    def loss(x):
        return jnp.sum(jnp.sin(x) * jnp.sqrt(x * x + 1))  # fault: cosine

    return jax.grad(loss)(x)


def rematerialised(x):
    @jax.checkpoint
    def block(x):
        return jnp.sin(jnp.tanh(x))  # fault: tanh

    return jax.grad(lambda x: block(x).sum())(x)


def mapped(x):
    def one(row):
        return jnp.log(row * row + 1) - row  # fault: log

    return jax.vmap(one)(x)


def sorted_values(x):
    order = jnp.argsort(x)
    return jnp.sqrt(jnp.abs(x[order]))  # fault: sqrt


def convolved(x):
    kernel = jnp.ones((1, 1, 3, 3))
    return lax.conv(x[None, None], kernel, (1, 1), "SAME") * 0.5  # fault: convolution


def scanned(x):
    def step(carry, row):
        carry = carry * 0.5 + row
        return jnp.tanh(carry), carry  # fault: tanh

    return lax.scan(step, jnp.zeros(8), x)


def late_iteration(x):
    def step(number, carry):
        late = jnp.maximum(carry, number - 30.0)  # fault: maximum
        return jnp.where(number < 37, carry, late)

    return lax.fori_loop(0, 40, step, x)


def nested_loops(x):
    def outer(carry, row):
        def inner(_, value):
            return jnp.sin(value) + row  # fault: sine

        return lax.fori_loop(0, 3, inner, carry), carry.sum()

    return lax.scan(outer, jnp.zeros(8), x)


def while_loop(x):
    def step(state):
        count, value = state
        return count + 1, jnp.cos(value)  # fault: cosine

    return lax.while_loop(lambda state: state[0] < 5, step, (0, x))


def branch(x):
    def positive(x):
        return jnp.log1p(jnp.abs(x))  # fault: log_plus_one

    return lax.cond(x.sum() < 1e6, positive, lambda x: -x, x) + 1


def branch_in_loop(x):
    def step(number, value):
        return lax.switch(
            number % 3,
            [
                lambda v: v + 1,
                lambda v: jnp.expm1(v * 0.1),  # fault: exponential_minus_one
                lambda v: -v,
            ],
            value,
        )

    return lax.fori_loop(0, 7, step, x)


@over_rows
def sharded(x):
    y = jnp.floor(x * 4)  # fault: floor
    return y + lax.psum(x, "x")


@over_rows
def loop_in_shards(x):
    def step(carry, _):
        carry = lax.ppermute(carry, "x", [(0, 1), (1, 2), (2, 3), (3, 0)])
        return jnp.ceil(carry * 1.5), None  # fault: ceil

    return lax.scan(step, x, None, length=4)[0]


def partitioned(x):
    y = lax.with_sharding_constraint(x * 3, ROWS)
    return jnp.sum(jnp.sqrt(y * y + 1), axis=0)  # fault: sqrt


def in_low_precision(x):
    low = x.astype(jnp.bfloat16)
    return (low * low).astype(jnp.float32) - 1  # fault: multiply


VECTORS = {"elementwise", "sorted_values", "late_iteration", "while_loop", "branch", "branch_in_loop"}
NAMES = [name for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__]

if __name__ == "__main__":
    for name in NAMES:
        f = globals()[name]
        f = f if name not in ("partitioned",) else jax.jit(f, in_shardings=ROWS)
        for result in jax.tree.leaves(jax.jit(f)(VECTOR if name in VECTORS else MATRIX)):
            print(name, np.asarray(result).sum())
