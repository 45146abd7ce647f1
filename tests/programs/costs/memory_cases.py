"""What programs do with device memory, one case at a time; prints what the device and JAX say of it at each look."""

import gc
import inspect
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

KIB = 1024
looks = []


def look():
    """Note the line, and what is alive at it."""
    here = jax.devices()[0]
    statistics = here.memory_stats()
    live = sum(array.nbytes // len(array.devices()) for array in jax.live_arrays() if here in array.devices())
    line = inspect.currentframe().f_back.f_lineno
    looks.append([line, statistics["bytes_in_use"], statistics["peak_bytes_in_use"], live])


def put(kib):
    """An array of so many KiB."""
    return jax.device_put(np.ones(kib * KIB // 4, np.float32))


def kept_list():
    kept = []
    for _ in range(10):
        kept.append(put(4))  # grows
    look()


def freed():
    for _ in range(10):
        x = put(8)
        look()
        x.delete()
    look()


def by_del():
    x = put(64)
    y = put(32)
    look()
    del x
    look()
    del y


def replaced():
    x = put(4)
    for _ in range(10):
        x = x + 1
    look()


def donation():
    step = jax.jit(lambda state, by: state + by, donate_argnums=0)
    state = put(16)  # made
    by = put(16)
    for _ in range(5):
        state = step(state, by)  # donated
        look()
    del by


def donated_tree():
    make = jax.jit(lambda: (jnp.zeros(1 * KIB), jnp.zeros(2 * KIB), jnp.zeros(4 * KIB)))
    step = jax.jit(lambda a, b, c: (a + 1, b + 1, c + 1), donate_argnums=(0, 1, 2))
    one = jax.jit(lambda b: b * 2, donate_argnums=0)
    state = make()  # tree made
    look()
    for _ in range(3):
        state = step(*state)  # tree donated
    a, b, _c = state
    del state
    b = one(b)  # twice
    look()
    del a
    look()


def jit_outputs():
    f = jax.jit(lambda n: (n[:256], n * 2))
    x = put(4)
    outputs = f(x)  # outputs made
    look()
    del outputs
    look()


def leak_in_a_loop():
    seen = {}

    def step(n):
        batch = put(8)  # passes
        return jnp.sum(batch), put(4)  # leaks

    for n in range(12):
        _, seen[n] = step(n)
    look()


def numpy_operands():
    f = jax.jit(lambda a, b: a @ b)
    for _ in range(3):
        f(np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)).block_until_ready()  # operands
    look()


def reference_cycle():
    gc.disable()

    class Node:
        pass

    for _ in range(6):
        node = Node()
        node.itself, node.array = node, put(4)  # cycle grows
    look()
    del node
    gc.collect()
    look()


def two_devices():
    on = jax.devices()
    x = jax.device_put(np.ones(4 * KIB, np.float32), on[0])  # first
    y = jax.device_put(np.ones(2 * KIB, np.float32), on[1])  # second
    look()
    z = jax.device_put(x, on[1])  # copied
    look()
    del x, y, z


def sharded():
    mesh = jax.make_mesh((2,), ("x",))
    spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    x = jax.device_put(np.ones(4 * KIB, np.float32), spread)
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(3):
        x = step(x)  # sharded donated
    look()


def out_of_memory():
    kept = [put(256), put(256)]  # holds
    for _ in range(2):
        try:
            put(1024)  # fails
        except jax.errors.JaxRuntimeError as error:
            assert "RESOURCE_EXHAUSTED" in str(error)
    try:
        jax.jit(lambda: jnp.zeros(KIB * KIB, jnp.int8))().block_until_ready()  # fails in a run
    except jax.errors.JaxRuntimeError as error:
        assert "RESOURCE_EXHAUSTED" in str(error)
    look()
    del kept


def by_callers():
    def make():
        return put(4)  # makes

    one = make()  # once
    many = [make() for _ in range(3)]  # thrice
    look()
    del one, many


def scattered():
    kept = [put(1 + n % 3) for n in range(3000)]
    look()
    del kept


globals()[sys.argv[1]]()
print(json.dumps(looks))
