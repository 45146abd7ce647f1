"""Programs whose host takes part: callbacks, threads, compiled programs and loaders."""

import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def callback():
    shape = jax.ShapeDtypeStruct((3,), np.float32)
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.sort(np.asarray(v))[::-1].copy(), shape, x * 2) - 1)
    print(np.asarray(f(np.array([1, 3, 2], np.float32))))


def callbacks_in_a_loop():
    table = np.random.default_rng(0).normal(size=10).astype(np.float32)

    def step(total, number):
        value = jax.pure_callback(lambda n: table[int(n)], jax.ShapeDtypeStruct((), np.float32), number)
        return total + value, total

    total, parts = jax.jit(lambda numbers: jax.lax.scan(step, 0.0, numbers))(np.arange(6, dtype=np.int32))
    print(float(total), np.asarray(parts))


def ordered_callbacks():
    seen = []

    def count(x):
        seen.append(float(x))
        return np.float32(len(seen))

    @jax.jit
    def f(x):
        first = io_callback(count, jax.ShapeDtypeStruct((), np.float32), x, ordered=True)
        second = io_callback(count, jax.ShapeDtypeStruct((), np.float32), x * 2, ordered=True)
        return first + 10 * second

    print(float(f(1.0)), float(f(2.0)), seen)


def printed_values():
    @jax.jit
    def f(x):
        jax.debug.print("largest {}", x.max())
        return x - x.max()

    print(np.asarray(f(np.arange(4, dtype=np.float32))))


def callbacks_on_devices():
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))

    def body(x):
        return jax.pure_callback(lambda v: np.asarray(v) ** 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
    print(np.asarray(f(jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x"))))))


def callback_in_a_branch():
    def slow(x):
        return jax.pure_callback(lambda v: np.float32(v) ** 3, jax.ShapeDtypeStruct((), np.float32), x)

    f = jax.jit(lambda x: jax.lax.cond(x > 1, slow, lambda x: x, x))
    print([float(f(x)) for x in (0.5, 2.0, 3.0)])


def callback_with_several_results():
    def split(x):
        x = np.asarray(x)
        return x[:2].astype(np.int8), x.astype(jnp.bfloat16), np.array(x.sum() > 0)

    shapes = tuple(jax.ShapeDtypeStruct(*each) for each in (((2,), np.int8), ((4,), jnp.bfloat16), ((), np.bool_)))
    results = jax.jit(lambda x: jax.pure_callback(split, shapes, x))(np.array([1, 2, 3, 4], np.float32))
    print([np.asarray(each) for each in results])


def actors_and_learner():
    batches: queue.Queue[np.ndarray] = queue.Queue()

    def act(seed):
        f = jax.jit(lambda key: jnp.cumsum(jax.random.normal(key, (6,))))
        for number in range(2):
            batches.put(np.asarray(f(jax.random.key(10 * seed + number))))

    actors = [threading.Thread(target=act, args=(seed,)) for seed in range(3)]
    for each in actors:
        each.start()
    for each in actors:
        each.join()
    found = sorted((batches.get() for _ in range(6)), key=lambda batch: float(batch[0]))
    print(float(jax.jit(lambda x: (x @ x.T).sum())(np.stack(found))))


def compiled_ahead():
    lowered = jax.jit(lambda x, n: (x * n).sum(0)).lower(jax.ShapeDtypeStruct((3, 4), np.float32), 2)
    compiled = lowered.compile()
    print(np.asarray(compiled(np.ones((3, 4), np.float32), 2)))


def exported_program():
    exported = jax.export.export(jax.jit(lambda x: jnp.sort(x)[::-1]), platforms=["tpu"])(
        jax.ShapeDtypeStruct((5,), np.float32)
    )
    again = jax.export.deserialize(exported.serialize())
    print(np.asarray(jax.jit(again.call)(np.array([3, 1, 2, 5, 4], np.float32))))


def prefetched_batches():
    f = jax.jit(lambda w, x: (w * 0.9 + x.mean(0), (x**2).sum()))
    source = np.random.default_rng(1)
    waiting = [jax.device_put(source.normal(size=(16, 4)).astype(np.float32)) for _ in range(2)]
    weights = jnp.zeros(4)
    for _ in range(5):
        waiting.append(jax.device_put(source.normal(size=(16, 4)).astype(np.float32)))
        weights, value = f(weights, waiting.pop(0))
        print(float(value))


def deleted_buffers():
    x = jax.device_put(np.arange(6, dtype=np.float32))
    y = jax.jit(lambda x: x[::-1])(x)
    x.delete()
    z = y + 1
    y.delete()
    print(np.asarray(z))


def unchecked_failure():
    f = jax.jit(lambda x: x * 3)
    x = jax.device_put(np.ones(3, np.float32))
    x.delete()
    try:
        f(x)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__)
    print(np.asarray(f(np.ones(3, np.float32))))
