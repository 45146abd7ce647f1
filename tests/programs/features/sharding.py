"""Programs over eight devices: collectives, shards in every order, and copies between devices and to the CPU."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, raises, same
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

DEVICES = jax.devices()
COUNT = len(DEVICES)
LINE = Mesh(np.array(DEVICES), ("x",))
GRID = Mesh(np.array(DEVICES).reshape(4, 2), ("x", "y"))
ALONG_X = PartitionSpec("x")
random = np.random.default_rng(0)


def split(array, *names, mesh=LINE):
    """The array, split over the mesh by these axes."""
    return jax.device_put(array, NamedSharding(mesh, PartitionSpec(*names)))


def on_each(function, into=ALONG_X, out=ALONG_X):
    """A function run on each device's part."""
    mapped = jax.shard_map(function, mesh=LINE, in_specs=into, out_specs=out, check_vma=False)
    return jax.jit(mapped)


@check
def there_are_eight_devices():
    assert COUNT == 8 and len({device.id for device in DEVICES}) == 8


@check
def matrix_product_of_shards():
    a, b = random.normal(size=(16, 8)).astype(np.float32), random.normal(size=(8, 24)).astype(np.float32)
    product = jax.jit(jnp.matmul)(split(a, "x", "y", mesh=GRID), split(b, "y", None, mesh=GRID))
    close(product, a @ b, 1e-4)
    assert product.sharding.device_set == set(DEVICES)


@check
def every_shard_is_where_it_belongs():
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    result = jax.jit(lambda x: x * 2)(split(values, "x", "y", mesh=GRID))
    assert {shard.device for shard in result.addressable_shards} == set(DEVICES)
    for shard in result.addressable_shards:
        same(shard.data, values[shard.index] * 2)


@check
def devices_in_another_order():
    values = np.arange(8, dtype=np.float32)
    for order in (DEVICES[::-1], [DEVICES[i] for i in (3, 1, 7, 0, 5, 2, 6, 4)]):
        result = jax.jit(lambda x: x + 1)(split(values, "x", mesh=Mesh(np.array(order), ("x",))))
        same(result, values + 1)
        assert [shard.device for shard in sorted(result.addressable_shards, key=lambda s: s.index)] == order


@check
def some_of_the_devices():
    values = np.arange(6, dtype=np.float32)
    for some in (DEVICES[2:5], DEVICES[7:], DEVICES[4:6]):
        result = jax.jit(lambda x: x.sum() + x)(split(values, "x", mesh=Mesh(np.array(some), ("x",))))
        close(result, values.sum() + values)
        assert result.devices() == set(some)


@check
def one_device_after_another():
    for device in DEVICES:
        result = jax.jit(lambda x: x - 1)(jax.device_put(np.float32(3), device))
        same(result, np.float32(2))
        assert result.devices() == {device}


@check
def replicas():
    result = jax.jit(lambda x: x + 1, out_shardings=NamedSharding(LINE, PartitionSpec()))(
        np.arange(3, dtype=np.float32)
    )
    assert len(result.addressable_shards) == 8
    for shard in result.addressable_shards:
        same(shard.data, np.arange(1, 4, dtype=np.float32))


@check
def sharded_and_replicated_inputs():
    values, factor = np.arange(16, dtype=np.float32), np.float32(3)
    close(jax.jit(lambda x, f: (x * f).sum())(split(values, "x"), split(factor)), values.sum() * 3)


@check
def resharding_inside_a_program():
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    target = NamedSharding(LINE, PartitionSpec(None, "x"))
    result = jax.jit(lambda x: jax.lax.with_sharding_constraint(x.T, target) * 2)(split(values, "x"))
    same(result, values.T * 2)
    assert result.sharding.is_equivalent_to(target, 2)


@check
def resharding_between_programs():
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    rows = split(values, "x")
    for names in ((None, "x"), (), ("x",)):
        same(jax.device_put(rows, NamedSharding(LINE, PartitionSpec(*names))), values)
    same(jax.device_put(rows, DEVICES[3]), values)


@check
def psum_pmean_pmax():
    values = np.arange(COUNT, dtype=np.float32)
    close(on_each(lambda x: jax.lax.psum(x, "x"))(values), np.full(COUNT, values.sum()))
    close(on_each(lambda x: jax.lax.pmean(x, "x"))(values), np.full(COUNT, values.mean()))
    close(on_each(lambda x: jax.lax.pmax(x, "x"))(values), np.full(COUNT, values.max()))


@check
def ppermute():
    ring = [(i, (i + 1) % COUNT) for i in range(COUNT)]
    same(on_each(lambda x: jax.lax.ppermute(x, "x", ring))(jnp.arange(8.0)), np.roll(np.arange(8, dtype=np.float32), 1))


@check
def all_gather_and_reduce_scatter():
    values = np.arange(16, dtype=np.float32)
    gathered = on_each(lambda x: jax.lax.all_gather(x, "x", tiled=True), out=PartitionSpec())(values)
    same(gathered, values)
    scattered = on_each(lambda x: jax.lax.psum_scatter(x, "x", tiled=True), into=PartitionSpec())(values)
    same(scattered, values * 8)


@check
def all_to_all():
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    swapped = on_each(lambda x: jax.lax.all_to_all(x, "x", 1, 0, tiled=True), out=PartitionSpec(None, "x"))(values)
    same(swapped, values)


@check
def axis_index():
    same(on_each(lambda x: x + jax.lax.axis_index("x"))(np.zeros(8, np.int32)), np.arange(8, dtype=np.int32))


@check
def collectives_in_a_loop():
    def body(x):
        return jax.lax.fori_loop(0, 5, lambda _, y: jax.lax.pmean(y, "x") + y, x)

    values = np.arange(8, dtype=np.float32)
    want = values
    for _ in range(5):
        want = want.mean() + want
    close(on_each(body)(values), want, 1e-4)


@check
def pmap():
    summed = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(np.arange(8, dtype=np.float32))
    close(summed, np.full(8, 28))
    twice = jax.pmap(lambda x, f: x * f, in_axes=(0, None))(np.arange(16.0, dtype=np.float32).reshape(8, 2), 2.0)
    close(twice, np.arange(16.0).reshape(8, 2) * 2)
    close(jax.pmap(lambda x: x + 1)(summed), np.full(8, 29))


@check
def pmap_over_some_devices():
    same(
        jax.pmap(lambda x: x * 2, devices=DEVICES[4:7])(np.arange(3, dtype=np.float32)), np.array([0, 2, 4], np.float32)
    )


@check
def gradients_of_shards():
    values = random.normal(size=(8, 4)).astype(np.float32)
    loss = jax.jit(jax.grad(lambda w, x: jnp.mean((x @ w) ** 2)))
    close(loss(np.ones(4, np.float32), split(values, "x")), 2 * values.T @ (values.sum(1)) / 8, 1e-4)


@check
def random_numbers_of_shards():
    sharded = jax.jit(lambda k: jax.random.normal(k, (16,)), out_shardings=NamedSharding(LINE, PartitionSpec("x")))
    close(sharded(jax.random.key(1)), jax.random.normal(jax.random.key(1), (16,)), 1e-5)


@check
def arrays_made_of_parts():
    values = np.arange(16, dtype=np.float32).reshape(8, 2)
    made = jax.make_array_from_callback((8, 2), NamedSharding(LINE, PartitionSpec("x")), lambda index: values[index])
    same(jax.jit(lambda x: x + 1)(made), values + 1)
    parts = [jax.device_put(values[i : i + 1], device) for i, device in enumerate(DEVICES)]
    joined = jax.make_array_from_single_device_arrays((8, 2), NamedSharding(LINE, PartitionSpec("x")), parts)
    same(jax.jit(jnp.sin)(joined), np.asarray(jax.jit(jnp.sin)(values)))


@check
def from_device_to_device():
    values = np.arange(5, dtype=np.float32)
    computed = jax.jit(lambda x: x * 2)(jax.device_put(values, DEVICES[0]))
    moved = jax.device_put(computed, DEVICES[7])
    assert moved.devices() == {DEVICES[7]}
    same(jax.jit(lambda x: x + 1)(moved), values * 2 + 1)


@check
def to_the_cpu_and_back():
    cpu = jax.devices("cpu")[0]
    computed = jax.jit(lambda x: x * 2)(np.arange(5, dtype=np.float32))
    there = jax.device_put(computed, cpu)
    assert there.devices() == {cpu}
    back = jax.device_put(jax.jit(lambda x: x + 1)(there), DEVICES[1])
    assert back.devices() == {DEVICES[1]}
    same(back, np.arange(5, dtype=np.float32) * 2 + 1)
    with jax.default_device(cpu):
        assert jnp.ones(3).devices() == {cpu}


@check
def from_shards_to_the_cpu():
    cpu = jax.devices("cpu")[0]
    values = np.arange(16, dtype=np.float32)
    same(jax.device_put(split(values, "x"), SingleDeviceSharding(cpu)), values)


@check
def mismatched_devices_raise():
    first, second = jax.device_put(np.ones(2), DEVICES[0]), jax.device_put(np.ones(2), DEVICES[1])
    raises(ValueError, lambda: first + second, "ncompatible devices")


@check
def make_mesh_and_explicit_axes():
    mesh = jax.make_mesh((4, 2), ("a", "b"))
    assert mesh.devices.shape == (4, 2)
    close(jax.jit(jnp.sum)(split(np.ones((8, 2), np.float32), "a", "b", mesh=mesh)), 16)


@check
def a_model_split_over_a_grid():
    @functools.partial(jax.jit, out_shardings=NamedSharding(GRID, PartitionSpec("x", None)))
    def layers(x, first, second):
        return jnp.tanh(x @ first) @ second

    x, first, second = (random.normal(size=size).astype(np.float32) for size in ((8, 6), (6, 4), (4, 3)))
    result = layers(
        split(x, "x", None, mesh=GRID), split(first, None, "y", mesh=GRID), split(second, "y", None, mesh=GRID)
    )
    close(result, np.tanh(x @ first) @ second, 1e-4)


finish()
