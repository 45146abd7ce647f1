"""Compile for every documented reason; each compiling call has the name of its case. Needs four devices."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_log_compiles", True)
ones = functools.partial(np.ones, dtype=np.float32)
offset = 1.0


@jax.jit
def shapes(x):
    return x * 2.0


@jax.jit
def dtypes(x):
    return x + x


def in_loop(x):
    return x - 1.0


@functools.partial(jax.jit, static_argnames="n")
def static_constant(x, n):
    return x * n


@functools.partial(jax.jit, static_argnames="size")
def static_shape(x, size):
    return jnp.broadcast_to(x, (size, 3))


@functools.partial(jax.jit, static_argnames="mode")
def static_code(x, mode):
    return jnp.sin(x) if mode == "sin" else jnp.cos(x)


@functools.partial(jax.jit, static_argnames="unused")
def static_nothing(x, unused):
    return x / 2.0


@jax.jit
def weak(x):
    return x + 1


def donated(x):
    return x + 3.0


@jax.jit
def sharded(x):
    return x * 4.0


@jax.jit
def tree(params, x):
    return sum(params.values()) + x


@jax.jit
def with_closure(x):
    return x + offset


@jax.jit
def scanned(x):
    return jax.lax.scan(lambda carry, y: (carry + y, y), 0.0, x)


@jax.jit
def ahead(x):
    return x * 5.0


@jax.jit
def cleared(x):
    return x * 6.0


def helper(x):
    return shapes(x)  # case: helper


for n in range(1, 20):
    shapes(ones(n))  # case: shapes
helper(ones(30))
for dtype in (np.float32, np.int32, np.complex64, np.bool_):
    dtypes(np.ones(3, dtype))  # case: dtypes
for _ in range(3):
    jax.jit(lambda x: in_loop(x))(ones(3))  # case: in_loop
for factor in (2, 3, 3, 4):
    static_constant(ones(3), factor)  # case: static_constant
for size in (2, 3):
    static_shape(ones(3), size)  # case: static_shape
for mode in ("sin", "cos"):
    static_code(ones(3), mode)  # case: static_code
for unused in ("a", "b"):
    static_nothing(ones(3), unused)  # case: static_nothing
for number in (1.0, np.float32(1.0)):
    weak(number)  # case: weak
for given in ((), (0,)):
    jax.jit(donated, donate_argnums=given)(jax.device_put(ones(3)))  # case: donated
mesh = Mesh(np.array(jax.devices()), ("devices",))
for spec in (PartitionSpec("devices"), PartitionSpec(None, "devices"), PartitionSpec()):
    sharded(jax.device_put(ones((8, 8)), NamedSharding(mesh, spec)))  # case: sharded
for size in (4, 8):
    spec = PartitionSpec("devices")
    over = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=spec, out_specs=spec)
    jax.jit(over)(ones(size))  # case: over
for spec in (PartitionSpec("devices"), PartitionSpec(None, "devices")):
    jax.jit(jax.shard_map(lambda x: x * 3, mesh=mesh, in_specs=spec, out_specs=spec))(ones((4, 4)))  # case: specs
for keys in ("a", "ab"):
    tree(dict.fromkeys(keys, ones(2)), ones(2))  # case: tree
tree({"a": ones(2), "c": ones(2)}, ones(2))  # case: renamed
for number in (1.0, 2.0):
    offset = number
    with_closure(ones(3))  # case: with_closure
    with_closure.clear_cache()
for size in (2, 4, 8):
    jax.jit(jax.vmap(lambda x: x @ x))(ones((size, 3)))  # case: vmapped
for size in (5, 6):
    scanned(ones(size))  # case: scanned
for size in (5, 6):
    ahead.lower(ones(size)).compile()  # case: ahead
for _ in range(2):
    cleared(ones(3))  # case: cleared
    jax.clear_caches()
jnp.sort(jnp.asarray(ones(7)))  # case: without_jit
