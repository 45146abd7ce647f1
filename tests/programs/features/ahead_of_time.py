"""Lowering, compiling and inspecting ahead of time; saving and loading executables and exports."""

import importlib.util
import pickle

import jax
import jax.numpy as jnp
import numpy as np
from checks import SkippedError, check, close, finish, raises, same
from jax import export
from jax.experimental import serialize_executable, topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

SQUARE = jax.ShapeDtypeStruct((8, 8), np.float32)
VALUES = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
MESH = Mesh(np.array(jax.devices()), ("x",))


@check
def lower_and_compile():
    compiled = jax.jit(lambda x: x @ x).lower(SQUARE).compile()
    close(compiled(VALUES), VALUES @ VALUES, 1e-4)
    raises(TypeError, lambda: compiled(VALUES[0]), "called with float32[8]")


@check
def the_program_as_text():
    lowered = jax.jit(lambda x: jnp.sin(x) @ x).lower(SQUARE)
    assert "stablehlo.sine" in lowered.as_text()
    text = lowered.compile().as_text()
    assert "HloModule" in text and "f32[8,8]" in text


@check
def cost_and_memory_analysis():
    compiled = jax.jit(lambda x: x @ x).lower(SQUARE).compile()
    costs = compiled.cost_analysis()
    assert (costs[0] if isinstance(costs, list) else costs)["flops"] >= 2 * 8**3 * 0.9
    sizes = compiled.memory_analysis()
    assert sizes.argument_size_in_bytes == sizes.output_size_in_bytes == 256


@check
def compiler_options():
    compiled = jax.jit(lambda x: x + 1).lower(SQUARE).compile(compiler_options={"xla_embed_ir_in_executable": True})
    same(compiled(VALUES), VALUES + 1)
    raises(
        Exception, lambda: jax.jit(lambda x: x + 1).lower(SQUARE).compile({"xla_no_such_option": 1}), "no_such_option"
    )


@check
def shardings_of_a_compiled_program():
    sharding = NamedSharding(MESH, PartitionSpec("x"))
    compiled = jax.jit(lambda x: x * 2, in_shardings=sharding, out_shardings=sharding).lower(SQUARE).compile()
    (argument,), _ = compiled.input_shardings
    assert argument.is_equivalent_to(sharding, 2) and compiled.output_shardings.is_equivalent_to(sharding, 2)
    same(compiled(jax.device_put(VALUES, sharding)), VALUES * 2)


@check
def a_compiled_program_with_donation():
    compiled = jax.jit(lambda x: x + 1, donate_argnums=0).lower(SQUARE).compile()
    x = jax.device_put(VALUES)
    same(compiled(x), VALUES + 1)
    assert x.is_deleted()


@check
def executables_are_written_and_read():
    compiled = jax.jit(lambda x: x * 3 + 1).lower(SQUARE).compile()
    written = pickle.dumps(serialize_executable.serialize(compiled))
    read = serialize_executable.deserialize_and_load(*pickle.loads(written), execution_devices=jax.devices()[:1])
    same(read(VALUES), np.asarray(compiled(VALUES)))


@check
def sharded_executables_are_written_and_read():
    sharding = NamedSharding(MESH, PartitionSpec("x"))
    compiled = jax.jit(lambda x: x.sum() + x, in_shardings=sharding).lower(SQUARE).compile()
    read = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled), execution_devices=jax.devices()
    )
    close(read(jax.device_put(VALUES, sharding)), VALUES.sum() + VALUES, 1e-4)


def topology_of(name, **options):
    """Devices that do not exist here."""
    return topologies.get_topology_desc(platform="tpu", topology_name=name, **options)


def compiled_for(topology, function, *arguments):
    """A program compiled for these devices, with each argument sharded over all of them."""
    sharding = NamedSharding(Mesh(np.array(topology.devices), ("x",)), PartitionSpec("x"))
    shapes = [jax.ShapeDtypeStruct(values.shape, values.dtype, sharding=sharding) for values in arguments]
    return jax.jit(function, out_shardings=sharding).trace(*shapes).lower(lowering_platforms=("tpu",)).compile()


@check
def for_absent_devices():
    compiled = compiled_for(topology_of("v5e:2x2"), lambda x: x @ x.T, VALUES)
    costs = compiled.cost_analysis()
    assert (costs[0] if isinstance(costs, list) else costs)["flops"] >= 2 * 8**3 / 4 * 0.9
    assert compiled.memory_analysis().output_size_in_bytes == 256 // 4
    assert "num_partitions=4" in compiled.as_text()


@check
def for_several_hosts_and_slices():
    topology = topology_of("v5e:4x4", num_slices=2)
    assert {device.process_index for device in topology.devices} == set(range(8))
    compiled = compiled_for(topology, lambda x: x + x.sum(), np.ones((32, 4), np.float32))
    assert compiled.memory_analysis().argument_size_in_bytes == 16
    text = compiled.as_text()
    assert "num_partitions=32" in text and "all-reduce" in text


@check
def for_devices_with_too_little_memory():
    raises(
        Exception,
        lambda: compiled_for(topology_of("v5e:2x2"), lambda x: jnp.zeros((x.size, 1 << 32)), VALUES),
        "out of memory",
    )


@check
def program_for_absent_devices_runs_on_present_ones():
    topology = topology_of("v5e:4x2")
    compiled = compiled_for(topology, lambda x: x * 3 + x.sum(), VALUES)
    written = pickle.dumps(serialize_executable.serialize(compiled))
    there = {device.id: device for device in jax.devices()}
    devices = [there[device.id] for device in topology.devices]
    read = serialize_executable.deserialize_and_load(*pickle.loads(written), execution_devices=devices)
    close(read(VALUES), VALUES * 3 + VALUES.sum(), 1e-4)


def written_and_read(exported, **options):
    """The exported program after a round trip through bytes."""
    if importlib.util.find_spec("flatbuffers") is None:
        raise SkippedError("writing exported programs needs flatbuffers: pip install flatbuffers")
    return export.deserialize(exported.serialize(**options))


@check
def exported_programs_are_written_and_read():
    exported = export.export(jax.jit(lambda x: jnp.sin(x) * 2))(SQUARE)
    assert exported.platforms == (jax.default_backend(),)
    read = written_and_read(exported)
    close(read.call(VALUES), np.sin(VALUES) * 2)
    close(jax.jit(lambda x: read.call(x) + 1)(VALUES), np.sin(VALUES) * 2 + 1)


@check
def exported_for_several_platforms():
    exported = export.export(jax.jit(lambda x: x + 1), platforms=("cpu", "tpu"))(SQUARE)
    read = written_and_read(exported)
    same(read.call(VALUES), VALUES + 1)
    with jax.default_device(jax.devices("cpu")[0]):
        same(read.call(VALUES), VALUES + 1)


@check
def exported_with_symbolic_sizes_and_gradients():
    rows = export.symbolic_shape("rows, 4")
    exported = export.export(jax.jit(lambda x: (x**2).sum()))(jax.ShapeDtypeStruct(rows, np.float32))
    read = written_and_read(exported, vjp_order=1)
    for count in (1, 3, 5):
        values = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
        close(read.call(values), (values**2).sum())
        close(jax.grad(read.call)(values), 2 * values)


@check
def exported_over_devices():
    sharding = NamedSharding(MESH, PartitionSpec("x"))
    exported = export.export(jax.jit(lambda x: x.sum() + x, in_shardings=sharding))(SQUARE)
    assert exported.nr_devices == 8
    close(jax.jit(exported.call)(jax.device_put(VALUES, sharding)), VALUES.sum() + VALUES, 1e-4)


@check
def the_same_program_twice_is_compiled_once():
    function = jax.jit(lambda x: x - 5)
    function(VALUES)
    before = function._cache_size()
    function(VALUES * 2)
    assert function._cache_size() == before


@check
def programs_for_other_devices():
    for device in jax.devices()[1:3]:
        compiled = jax.jit(lambda x: x + 2).lower(jax.device_put(VALUES, device)).compile()
        result = compiled(jax.device_put(VALUES, device))
        same(result, VALUES + 2)
        assert result.devices() == {device}


@check
def arguments_on_the_wrong_device():
    compiled = jax.jit(lambda x: x + 2).lower(jax.device_put(VALUES, jax.devices()[1])).compile()
    raises(ValueError, lambda: compiled(jax.device_put(VALUES, jax.devices()[2])), "device")


finish()
