"""Programs whose replay gives the same bits: the argument names one."""

import sys
import threading
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def jitted():
    f = jax.jit(lambda x, y: x @ y + jnp.sin(x).sum())
    print(np.asarray(f(np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 2), np.float32))))


def donated():
    f = jax.jit(lambda x: x * 2 + 1, donate_argnums=0)
    x = jax.device_put(np.arange(8, dtype=np.float32))
    for _ in range(3):
        x = f(x)
    print(np.asarray(x))


def sharded():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    rows = jax.device_put(np.arange(64, dtype=np.float32).reshape(8, 8), NamedSharding(mesh, PartitionSpec("x")))
    f = jax.jit(lambda x: (x @ x.T, x.sum()))
    for result in f(rows):
        print(np.asarray(result))


def collectives():
    """Each device takes a branch of its own, and communicates in a loop."""
    mesh = Mesh(np.array(jax.devices()), ("x",))

    def body(x):
        place = jax.lax.axis_index("x")
        x = jax.lax.cond(place % 2 == 0, jnp.sin, lambda v: v - 1, x)
        x = jax.lax.fori_loop(0, 3, lambda _, v: jnp.tanh(v) + jax.lax.pmean(v, "x"), x)
        return x + jax.lax.all_to_all(jnp.tile(x, 8), "x", 0, 0, tiled=True).sum()

    over_devices = partial(jax.shard_map, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))
    print(np.asarray(jax.jit(over_devices(body, check_vma=False))(np.arange(16, dtype=np.float32))))


def scanned():
    def step(carry, x):
        return carry * 0.5 + x, carry

    f = jax.jit(lambda xs: jax.lax.scan(step, jnp.zeros(3), xs))
    for result in f(np.linspace(0, 1, 15, dtype=np.float32).reshape(5, 3)):
        print(np.asarray(result))


def random_numbers():
    key = jax.random.key(7)
    for _ in range(3):
        key, used = jax.random.split(key)
        print(np.asarray(jax.random.normal(used, (4,))))


def several_results():
    f = jax.jit(lambda x: {"sum": x.sum(), "sorted": jnp.sort(x), "largest": jnp.argmax(x), "none": x[:0]})
    for result in jax.tree.leaves(f(np.array([3, 1, 2], np.float32))):
        print(np.asarray(result))


def threads():
    f = jax.jit(lambda x: jnp.cumsum(x * x))

    def work(number):
        for i in range(5):
            print(np.asarray(f(np.arange(6, dtype=np.float32) + 10 * number + i)).sum())

    running = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()


def element_types():
    jax.config.update("jax_enable_x64", True)
    names = (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64 complex128"
    )
    small = "int4 uint4 float8_e5m2 float8_e4m3fn float8_e4m3b11fnuz float8_e5m2fnuz float8_e4m3fnuz"
    for name in (*names.split(), *small.split()):
        x = jax.device_put(np.array([0, 1, 2, 3], jnp.dtype(name)))
        print(name, np.asarray(jnp.flip(x)))


def strided():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for each in (x.T, x[:, ::2], x[::-1], x[0:0]):
        print(np.asarray(jax.device_put(each) + 1))


def copied():
    first, second = jax.devices()[:2]
    x = jax.device_put(np.arange(5, dtype=np.float32), first)
    y = jax.device_put(x * 3, second)
    z = jax.device_put(y, y.sharding.with_memory_kind("pinned_host"))
    print(np.asarray(y + 1), np.asarray(z))


def trained():
    def loss(weights, x):
        return jnp.mean(jnp.tanh(x @ weights["a"]) @ weights["b"])

    @jax.jit
    def step(weights, x):
        value, gradient = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

    source = np.random.default_rng(0)
    weights = {"a": source.normal(size=(8, 16)).astype(np.float32), "b": source.normal(size=(16, 1)).astype(np.float32)}
    for _ in range(4):
        weights, value = step(weights, source.normal(size=(32, 8)).astype(np.float32))
        print(float(value))


def linear_algebra():
    x = np.random.default_rng(1).normal(size=(6, 6)).astype(np.float32)
    print(np.asarray(jnp.linalg.solve(x, jnp.ones(6))), np.asarray(jnp.fft.fft(x[0])), np.asarray(jnp.linalg.qr(x)[1]))


def with_callback():
    f = jax.jit(lambda x: jax.pure_callback(lambda v: v + 1, jax.ShapeDtypeStruct((3,), np.float32), x) * 2)
    print(np.asarray(f(np.zeros(3, np.float32)) - 1))
    print(np.asarray(jax.jit(lambda x: x - 4)(np.ones(3, np.float32))))


def with_callbacks():
    """Several answers on a channel, several channels, devices, branches and types."""
    with_callback()

    def step(total, x):
        value = jax.pure_callback(lambda v: np.float32(v) * 3, jax.ShapeDtypeStruct((), np.float32), x)
        jax.debug.print("{}", value)
        return total + value, value

    scanned = jax.jit(lambda xs: jax.lax.scan(step, jnp.float32(0), xs))
    for result in scanned(np.arange(4, dtype=np.float32)):
        print(np.asarray(result))
    shapes = (jax.ShapeDtypeStruct((2,), np.int8), jax.ShapeDtypeStruct((), np.bool_))
    several = jax.jit(lambda x: jax.pure_callback(lambda v: (v[:2].astype(np.int8), v.sum() > 1), shapes, x))
    for result in several(np.arange(3, dtype=np.float32)):
        print(np.asarray(result))
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))

    def body(x):
        return jax.pure_callback(lambda v: np.asarray(v) ** 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    sharded = jax.shard_map(body, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))
    print(np.asarray(jax.jit(sharded)(np.arange(8, dtype=np.float32))))


def not_a_number():
    shift = jax.jit(lambda x: x - 2)

    @jax.jit
    def logarithm(x):
        return jnp.log(x)

    shifted = shift(np.arange(4, dtype=np.float32))
    print(np.asarray(logarithm(shifted) + 1))


def all_equal():
    for program in (
        *(
            jitted,
            donated,
            sharded,
            collectives,
            scanned,
            random_numbers,
            several_results,
            threads,
            strided,
            copied,
            trained,
        ),
        *(linear_algebra, element_types),  # the last one enables 64-bit types
    ):
        program()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
