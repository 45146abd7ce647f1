"""Patterns of device memory use, one case at a time; prints the device's and JAX's figures at each checkpoint."""

import gc
import inspect
import json
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
from device_profile import bytes_by_device

KIB = 1024
looks = []


def look():
    """Record the line, and the live arrays there."""
    here = jax.devices()[0]
    statistics = here.memory_stats()
    arrays = [array for array in jax.live_arrays() if here in array.devices()]
    live = sum(array.nbytes // len(array.devices()) for array in arrays if array.sharding.memory_kind == "device")
    profiled = bytes_by_device(jax.profiler.device_memory_profile()).get(str(here), 0)
    line = inspect.currentframe().f_back.f_lineno
    looks.append([line, statistics["bytes_in_use"], statistics["peak_bytes_in_use"], live, profiled])


def put(kib):
    """An array of this many KiB."""
    return jax.device_put(np.ones(kib * KIB // 4, np.float32))


def kept_list():
    kept = []
    for _ in range(10):
        kept.append(put(4))  # grows
    look()


def kept_sometimes():
    kept = {}
    for number in range(12):
        if number % 3 == 0:
            kept[number] = put(4)
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
    outputs = jax.block_until_ready(f(x))  # outputs made
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


def donates_some():
    swap = jax.jit(lambda a, b, c: (c + 1, a + 1), donate_argnums=(0, 2))
    one = jax.jit(lambda c: c * 2, donate_argnums=0)
    a, b, c = put(4), put(2), put(8)  # three made
    c, a = swap(a, b, c)  # swapped
    look()
    c = one(c)  # of the larger
    c.block_until_ready()
    look()
    del c
    look()


def not_usable():
    total = jax.jit(lambda x: x.sum(), donate_argnums=0)
    kept = [total(put(8)) for _ in range(5)]  # donated in vain
    look()
    del kept


def training():
    params = {"w": put(16), "b": put(1)}
    momentum = jax.tree.map(jnp.zeros_like, params)

    def loss(params, batch):
        return jnp.sum(jnp.tanh(batch * params["w"][: batch.size]) + params["b"][0])

    @jax.jit
    def gradient(params, batch):
        return jax.grad(loss)(params, batch)

    def update(params, momentum, gradients):
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return jax.tree.map(lambda p, m: p - m, params, momentum), momentum

    update = jax.jit(update, donate_argnums=(0, 1))
    for _ in range(8):
        batch = put(4)  # batch
        gradients = gradient(params, batch)  # gradients
        params, momentum = update(params, momentum, gradients)  # updated
        jax.block_until_ready((gradients, params))  # a run's inputs are released before its end is reported
    del gradients, batch
    look()


def by_threads():
    kept = []

    def work():
        for _ in range(6):
            kept.append(put(4))  # threads grow

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    look()


def host_memory():
    on_host = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    both = jax.jit(lambda x: (x + 1, x * 2), out_shardings=(on_host, None))
    x = put(4)
    kept = [jax.device_put(x, on_host)]
    look()
    for _ in range(5):
        kept.append(both(x))  # half of it on the host
    look()


def waiting_runs():
    """Runs that wait until all of them are enqueued: the program is ahead of the device."""
    gate = threading.Event()

    def wait(x):
        gate.wait()
        return x

    held = jax.jit(lambda x: jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    step = jax.jit(lambda state, batch: (state + batch, batch * 2), donate_argnums=0)
    state = held(put(4))  # waits
    kept = []
    for n in range(12):
        batch = put(4)  # let go
        state, result = step(state, batch)  # waits, too
        if n % 2:
            kept.append(result)
    del batch, result
    look()
    gate.set()
    state.block_until_ready()


globals()[sys.argv[1]]()
print(json.dumps(looks))
