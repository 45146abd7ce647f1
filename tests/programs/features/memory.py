"""Donation, deletion, kinds of memory, layouts, and the device's memory statistics."""

import gc
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from checks import SkippedError, check, close, finish, raises, same
from jax.sharding import SingleDeviceSharding

DEVICE = jax.devices()[0]
HOST = SingleDeviceSharding(DEVICE, memory_kind="pinned_host")
ON_DEVICE = SingleDeviceSharding(DEVICE, memory_kind="device")


def in_use():
    """The allocated bytes of the device."""
    gc.collect()
    return DEVICE.memory_stats()["bytes_in_use"]


def threads():
    """All threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


@check
def donated_inputs_are_gone():
    function = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(np.arange(1000, dtype=np.float32))
    y = function(x)
    assert x.is_deleted()
    raises(RuntimeError, lambda: x + 1, "deleted")
    same(y, np.arange(1, 1001, dtype=np.float32))


@check
def one_of_two_is_donated():
    function = jax.jit(lambda x, y: (x * 2, y + 1), donate_argnums=0)
    x, y = jax.device_put(np.ones(100, np.float32)), jax.device_put(np.ones(100, np.float32))
    function(x, y)
    assert x.is_deleted() and not y.is_deleted()
    same(y, np.ones(100, np.float32))


@check
def a_donated_loop_uses_no_more_memory():
    function = jax.jit(lambda x: x * 1.5, donate_argnums=0)
    x = function(jax.device_put(np.ones(1 << 16, np.float32)))
    x.block_until_ready()
    before = in_use()
    for _ in range(20):
        x = function(x)
    x.block_until_ready()
    assert in_use() == before
    close(x, np.full(1 << 16, np.float32(1.5) ** 21), 1e-4)


@check
def an_unusable_donation():
    import warnings

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        function = jax.jit(lambda x: x.sum(), donate_argnums=0)
        close(function(jax.device_put(np.ones(10, np.float32))), 10)


@check
def donating_the_same_array_twice():
    function = jax.jit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1))
    x = jax.device_put(np.ones(10, np.float32))
    try:
        function(x, x)
    except (ValueError, RuntimeError) as error:
        assert "donate" in str(error).lower(), error
    same(jax.jit(lambda x: x + 1)(np.float32(1)), np.float32(2))


@check
def deleted_arrays_cannot_be_used():
    x = jax.jit(lambda: jnp.ones(3))()
    x.delete()
    assert x.is_deleted()
    raises(RuntimeError, lambda: np.asarray(x), "deleted")
    raises(RuntimeError, lambda: jax.jit(lambda x: x + 1)(x), "deleted")


@check
def deleted_while_in_use():
    function = jax.jit(lambda x: (x @ x).sum())
    x = jax.device_put(np.ones((500, 500), np.float32))
    function(x).block_until_ready()
    result = function(x)
    x.delete()
    close(result, 500.0**3)


@check
def results_allocate_and_free_memory():
    function = jax.jit(lambda x: jnp.full((1 << 18,), x))
    # Retained: the thread that ran a program may hold its arguments briefly after it.
    x = jax.device_put(np.float32(2))
    function(x).block_until_ready()
    before = in_use()
    result = function(x).block_until_ready()
    assert in_use() - before == 1 << 20
    del result
    assert in_use() == before


@check
def a_deleted_argument_frees_its_memory():
    first_one = jax.jit(lambda x: x[0])
    x = jax.device_put(np.ones(1 << 10, np.float32))
    first_one(x).block_until_ready()
    before = in_use()
    del x
    assert before - in_use() == 1 << 12


@check
def many_big_results_are_freed_together():
    function = jax.jit(lambda x: x + 1)
    x = jax.device_put(np.ones(1 << 18, np.float32))
    results = jax.block_until_ready([function(x) for _ in range(200)])
    before = threads()
    del results
    gc.collect()
    assert threads() < before + 10


@check
def statistics():
    found = DEVICE.memory_stats()
    assert 0 <= found["bytes_in_use"] <= found["peak_bytes_in_use"] <= found["bytes_limit"]
    assert found["bytes_limit"] > 1 << 30


@check
def live_arrays():
    before = len(jax.live_arrays())
    held = [jnp.ones(3) + i for i in range(4)]
    assert len(jax.live_arrays()) >= before + 4
    del held


@check
def to_host_memory_and_back():
    x = jax.device_put(np.arange(4, dtype=np.float32), HOST)
    assert x.sharding.memory_kind == "pinned_host"
    y = jax.device_put(x, ON_DEVICE)
    assert y.sharding.memory_kind == "device"
    same(jax.jit(lambda x: x * 2)(y), np.arange(4, dtype=np.float32) * 2)


@check
def a_result_in_host_memory():
    y = jax.jit(lambda x: x * 2, out_shardings=HOST)(np.arange(4, dtype=np.float32))
    assert y.sharding.memory_kind == "pinned_host"
    same(y, np.arange(4, dtype=np.float32) * 2)


@check
def an_input_in_host_memory():
    x = jax.device_put(np.arange(4, dtype=np.float32), HOST)
    y = jax.jit(lambda x: jax.device_put(x, ON_DEVICE) * 2)(x)
    assert y.sharding.memory_kind == "device"
    same(y, np.arange(4, dtype=np.float32) * 2)


@check
def host_memory_is_not_counted_as_device_memory():
    function = jax.jit(lambda x: (x * 2, jax.device_put(x[:10], ON_DEVICE)), out_shardings=(HOST, ON_DEVICE))
    compiled = function.lower(jax.device_put(np.ones(1000, np.float32), HOST)).compile()
    sizes = compiled.memory_analysis()
    assert (sizes.argument_size_in_bytes, sizes.host_argument_size_in_bytes) == (0, 4000), sizes
    assert sizes.host_output_size_in_bytes == 4000 and 40 <= sizes.output_size_in_bytes < 100, sizes


@check
def activations_are_offloaded():
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["y"], offload_src="device", offload_dst="pinned_host"
    )
    from jax.ad_checkpoint import checkpoint_name

    function = jax.checkpoint(lambda x: jnp.sin(checkpoint_name(jnp.sin(x), "y")).sum(), policy=policy)
    x = np.linspace(0, 1, 8, dtype=np.float32)
    close(jax.jit(jax.grad(function))(x), np.cos(np.sin(x)) * np.cos(x))


@check
def a_layout_chosen_by_the_user():
    try:
        from jax.experimental.layout import Format, Layout
    except ImportError:
        raise SkippedError("this jax names layouts otherwise") from None
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    for order in ((0, 1), (1, 0)):
        x = jax.device_put(values, Format(Layout(order), SingleDeviceSharding(DEVICE)))
        same(x, values)
        assert x.format.layout.major_to_minor == order
        same(jax.jit(lambda x: x + 1)(x), values + 1)
        chosen = jax.jit(lambda x: x * 2, out_shardings=Format(Layout(order), SingleDeviceSharding(DEVICE)))(values)
        same(chosen, values * 2)
        assert chosen.format.layout.major_to_minor == order


@check
def a_layout_left_to_the_compiler():
    try:
        from jax.experimental.layout import Format, Layout
    except ImportError:
        raise SkippedError("this jax names layouts otherwise") from None
    function = jax.jit(lambda x: x.T @ x, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    compiled = function.lower(jax.ShapeDtypeStruct((2, 3), np.float32)).compile()
    (arguments,), _ = compiled.input_formats
    close(compiled(jax.device_put(values, arguments)), values.T @ values)


@check
def aliases_of_one_buffer():
    x = jax.device_put(np.arange(5, dtype=np.float32))
    y = jax.device_put(x, DEVICE)
    x.delete()
    if not y.is_deleted():
        same(y, np.arange(5, dtype=np.float32))


@check
def an_input_is_not_changed_from_outside():
    values = np.zeros(1000, np.float32)
    x = jax.device_put(values)
    values[:] = 1
    same(jax.jit(lambda x: x + 0)(x), np.zeros(1000, np.float32))


@check
def dlpack():
    x = jax.jit(lambda: jnp.arange(4.0))()
    try:
        view = np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise SkippedError(f"{type(error).__name__}: {error}"[:200]) from None
    same(view, np.arange(4, dtype=np.float32))


finish()
