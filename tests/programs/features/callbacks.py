"""Python called from compiled programs: pure, with effects, in order, failing, and calling JAX again."""

import contextlib
import io
import threading
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, raises, same
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

X = np.arange(4, dtype=np.float32)
SHAPE = jax.ShapeDtypeStruct((4,), np.float32)


@check
def pure_callback():
    function = jax.jit(lambda x: jax.pure_callback(np.sin, SHAPE, x) + 1)
    close(function(X), np.sin(X) + 1)
    close(function(X * 2), np.sin(X * 2) + 1)


@check
def a_call_that_waits_while_another_overtakes_it():
    def slowly(x):
        time.sleep(0.05)
        return np.asarray(x) + 1

    function = jax.jit(lambda x: jax.pure_callback(slowly, SHAPE, jax.pure_callback(slowly, SHAPE, x) * 2))
    first, second = function(function(X)), function(X + 10)
    close(second, (X + 11) * 2 + 1)
    close(first, ((X + 1) * 2 + 2) * 2 + 1)


@check
def a_callback_in_a_donated_loop():
    def step(x):
        jax.debug.callback(lambda _: None, x[0])
        return x + 1

    function = jax.jit(step, donate_argnums=0)
    x = function(function(np.zeros(1000, np.float32)))
    place = x.unsafe_buffer_pointer()
    x = function(x)
    assert x.unsafe_buffer_pointer() == place
    same(x, np.full(1000, 3, np.float32))


@check
def a_long_chain_of_slow_callbacks_takes_few_threads():
    def slowly(x):
        time.sleep(0.005)
        return np.asarray(x) + 1

    function = jax.jit(lambda x: jax.pure_callback(slowly, SHAPE, x))
    x = jax.block_until_ready(function(X))
    before = len(list(Path("/proc/self/task").iterdir()))
    for _ in range(100):
        x = function(x)
    assert len(list(Path("/proc/self/task").iterdir())) < before + 30
    close(x, X + 101)


@check
def pure_callback_of_many_arrays():
    def host(a, tree):
        return {"sum": a + tree[0], "type": tree[1].astype(np.int32)}

    shapes = {"sum": SHAPE, "type": jax.ShapeDtypeStruct((2,), np.int32)}
    result = jax.jit(lambda a, t: jax.pure_callback(host, shapes, a, t))(X, (X, np.ones(2, np.int8)))
    same(result["sum"], X + X)
    same(result["type"], np.ones(2, np.int32))


@check
def callbacks_of_every_type():
    import ml_dtypes

    for dtype in (np.bool_, np.int8, np.uint16, np.int32, np.float16, ml_dtypes.bfloat16, np.float32, np.complex64):
        values = np.array([0, 1, 1]).astype(dtype)
        shape = jax.ShapeDtypeStruct((3,), dtype)
        same(jax.jit(lambda x, s=shape: jax.pure_callback(lambda a: np.asarray(a)[::-1], s, x))(values), values[::-1])


@check
def a_callback_without_elements():
    shape = jax.ShapeDtypeStruct((0, 2), np.float32)
    assert jax.jit(lambda x: jax.pure_callback(lambda a: a, shape, x))(np.zeros((0, 2), np.float32)).shape == (0, 2)


@check
def batched_callback():
    one = lambda x: jax.pure_callback(  # noqa: E731
        np.cos, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="broadcast_all"
    )
    close(jax.vmap(one)(X), np.cos(X))
    each = lambda x: jax.pure_callback(  # noqa: E731
        np.cos, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential"
    )
    close(jax.jit(jax.vmap(each))(X), np.cos(X))


@check
def a_callback_in_a_loop():
    seen = []
    scalar = jax.ShapeDtypeStruct((), np.float32)

    def host(i):
        seen.append(int(i))
        return np.float32(i)

    function = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, x: x + io_callback(host, scalar, i), 0.0))
    assert float(function(10)) == 45.0
    assert sorted(seen) == list(range(10))


@check
def ordered_callbacks_run_in_order():
    seen = []

    @jax.jit
    def function(x):
        for i in range(20):
            io_callback(lambda a, i=i: seen.append(i), None, x, ordered=True)

    for _ in range(3):
        function(1.0)
    jax.effects_barrier()
    assert seen == list(range(20)) * 3


@check
def every_unordered_callback_runs():
    seen = []
    function = jax.jit(lambda x: [io_callback(lambda a, i=i: seen.append(i), None, x) for i in range(20)])
    function(1.0)
    jax.effects_barrier()
    assert sorted(seen) == list(range(20))


@check
def debug_callback_and_print():
    seen = []
    jax.jit(lambda x: jax.debug.callback(lambda a: seen.append(float(a)), x))(3.0)
    jax.effects_barrier()
    assert seen == [3.0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(3.0)
        jax.effects_barrier()
    assert printed.getvalue() == "x is 3.0\n"


@check
def a_program_with_only_a_callback_is_waited_for():
    seen, go = [], threading.Event()

    def slow(a):
        go.wait(20)
        seen.append(float(a))

    jax.jit(lambda x: io_callback(slow, None, x, ordered=True))(5.0)
    assert seen == []
    go.set()
    jax.effects_barrier()
    assert seen == [5.0]


@check
def an_exception_in_a_callback():
    def bad(a):
        raise ValueError("no such luck")

    function = jax.jit(lambda x: jax.pure_callback(bad, SHAPE, x))
    for _ in range(3):
        raises(Exception, lambda: function(X).block_until_ready(), "no such luck")
    same(jax.jit(lambda x: x + 1)(X), X + 1)


@check
def a_wrong_result_of_a_callback():
    function = jax.jit(lambda x: jax.pure_callback(lambda a: np.zeros((5, 5), np.float32), SHAPE, x))
    raises(Exception, lambda: function(X).block_until_ready(), "shape")


@check
def a_callback_that_uses_the_device():
    def host(a):
        return np.asarray(jax.jit(lambda x: x * 2)(np.asarray(a)))

    close(jax.jit(lambda x: jax.pure_callback(host, SHAPE, x) + 1)(X), X * 2 + 1)


@check
def nested_callback():
    inner = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, SHAPE, x) * 2)

    def host(a):
        return np.asarray(inner(np.asarray(a)))

    close(jax.jit(lambda x: jax.pure_callback(host, SHAPE, x) + 1)(X), (X + 1) * 2 + 1)


@check
def a_callback_that_moves_arrays():
    def host(a):
        return np.asarray(jax.device_put(jax.device_put(np.asarray(a), jax.devices()[-1]), jax.devices()[0]))

    same(jax.jit(lambda x: jax.pure_callback(host, SHAPE, x))(X), X)


@check
def a_callback_on_shards():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    values = jax.device_put(np.arange(16, dtype=np.float32), NamedSharding(mesh, PartitionSpec("x")))
    function = jax.jit(
        jax.shard_map(
            lambda x: jax.pure_callback(lambda a: np.asarray(a) * 3, jax.ShapeDtypeStruct(x.shape, x.dtype), x),
            mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"),
        )
    )  # fmt: skip
    same(function(values), np.arange(16, dtype=np.float32) * 3)


@check
def debug_print_on_shards():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    seen = []
    values = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, PartitionSpec("x")))
    jax.jit(
        jax.shard_map(
            lambda x: (jax.debug.callback(lambda a: seen.append(float(np.asarray(a)[0])), x), x)[1],
            mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"),
        )
    )(values)  # fmt: skip
    jax.effects_barrier()
    assert sorted(seen) == list(range(8))


@check
def gradients_around_a_callback():
    @jax.custom_jvp
    def sine(x):
        return jax.pure_callback(lambda a: np.sin(a).astype(np.float32), jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    sine.defjvp(lambda x, t: (sine(*x), jnp.cos(*x) * t[0]))
    close(jax.jit(jax.grad(lambda x: sine(x).sum()))(X), np.cos(X))


@check
def a_breakpoint_for_errors():
    from jax.experimental import checkify

    checked = checkify.checkify(jax.jit(lambda x: checkify.check(x > 0, "not positive: {x}", x=x)))
    error, _ = checked(-1.0)
    assert "not positive: -1.0" in str(error.get())


@check
def many_callbacks_of_many_threads():
    totals = []

    def work(number):
        function = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + number, SHAPE, x) * 2)
        totals.append([float(function(X + i).sum()) for i in range(10)])
        assert totals[-1]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    want = [[float(((X + i + n) * 2).sum()) for i in range(10)] for n in range(4)]
    assert sorted(totals) == sorted(want)


# Last, because JAX itself fails all ordered effects after it.
@check
def an_exception_in_an_effect():
    def bad(a):
        raise ValueError("no such luck")

    def run():
        jax.block_until_ready(jax.jit(lambda x: (io_callback(bad, None, x, ordered=True), x + 1))(X))
        jax.effects_barrier()

    raises(Exception, run, "no such luck")
    same(jax.jit(lambda x: x + 1)(X), X + 1)


finish()
