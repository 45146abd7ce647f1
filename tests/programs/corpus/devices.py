"""Programs on several devices, and in several memories."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def _mesh(*names, shape=(8,)):
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), names)


def _data(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def data_parallel_step():
    mesh = _mesh("data")

    @jax.jit
    def step(weights, batch):
        value, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(batch @ w) ** 2))(weights)
        return weights - 0.1 * gradient, value

    weights = jax.device_put(_data(0, 4, 4), NamedSharding(mesh, P()))
    for seed in range(3):
        weights, value = step(weights, jax.device_put(_data(seed, 16, 4), NamedSharding(mesh, P("data"))))
        print(float(value))


def tensor_parallel_step():
    mesh = _mesh("data", "model", shape=(2, 4))
    shardings = [NamedSharding(mesh, spec) for spec in (P("data"), P(None, "model"), P("model"))]
    shapes = ((8, 4), (4, 8), (8, 4))
    x, up, down = (jax.device_put(_data(0, *shape), each) for shape, each in zip(shapes, shardings, strict=True))
    f = jax.jit(lambda x, up, down: jax.nn.relu(x @ up) @ down, out_shardings=shardings[0])
    print(np.asarray(f(x, up, down)).sum(0))


def fully_sharded_step():
    mesh = _mesh("all")
    sharding = NamedSharding(mesh, P("all"))

    def step(weights, batch):
        gradient = jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(weights)
        return weights - 0.1 * gradient

    f = jax.jit(step, in_shardings=(sharding, sharding), out_shardings=sharding, donate_argnums=0)
    weights = jax.device_put(_data(0, 8, 2), sharding)
    for seed in range(3):
        weights = f(weights, jax.device_put(_data(seed, 8, 8), sharding))
    print(np.asarray(weights))


def summed_gradients():
    mesh = _mesh("x")

    def body(x):
        return jax.lax.psum(x * jax.lax.axis_index("x"), "x"), jax.lax.pmean(jnp.sin(x), "x")

    for result in jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P()))(_data(1, 8, 3)):
        print(np.asarray(result))


def ring():
    mesh = _mesh("x", shape=(4,))

    def body(x):
        def step(state, _):
            block, total = state
            block = jax.lax.ppermute(block, "x", [(i, (i + 1) % 4) for i in range(4)])
            return (block, total + block * block.sum()), None

        return jax.lax.scan(step, (x, x), length=3)[0][1]

    print(np.asarray(jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(_data(2, 8, 2))))


def gathered_blocks():
    mesh = _mesh("x")

    def body(x):
        everything = jax.lax.all_gather(x, "x", tiled=True)
        return jax.lax.psum_scatter(everything @ everything.T, "x", tiled=True), jax.lax.all_to_all(
            everything, "x", 0, 1, tiled=True
        )

    f = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))
    for result in jax.jit(f)(_data(3, 8, 8)):
        print(np.asarray(result).sum(0))


def resharded_array():
    mesh = _mesh("a", "b", shape=(4, 2))
    x = jax.device_put(_data(4, 8, 8), NamedSharding(mesh, P("a", "b")))
    for spec in (P("b", "a"), P(("a", "b")), P(None, "a"), P()):
        x = jax.device_put(x * 2, NamedSharding(mesh, spec))
        print(np.asarray(x)[0, :3])


def host_memory():
    mesh = _mesh("x")
    on_device = NamedSharding(mesh, P("x"))
    x = jax.device_put(_data(5, 8, 4), on_device)
    kept = jax.device_put(jax.jit(jnp.tanh)(x), on_device.with_memory_kind("pinned_host"))
    print(np.asarray(jax.device_put(kept, on_device) + x))


def devices_in_turn():
    f = jax.jit(lambda x: jnp.sqrt(x) + 1)
    x = jnp.arange(5.0)
    for device in jax.devices()[:4]:
        x = f(jax.device_put(x, device))
    print(np.asarray(x))


def sharded_random_numbers():
    mesh = _mesh("x")
    f = jax.jit(lambda key: jax.random.normal(key, (8, 4)), out_shardings=NamedSharding(mesh, P("x")))
    print(np.asarray(f(jax.random.key(1))).sum(1))


def uneven_work():
    mesh = _mesh("x")

    def body(x):
        def grow(value):
            return value * 1.5 + 1

        return jax.lax.while_loop(lambda value: value.sum() < 50, grow, x)

    f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
    print(np.asarray(f(np.arange(8, dtype=np.float32))))
