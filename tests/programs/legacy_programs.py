"""Programs of JAX 0.4.13 on the mock's cores: accepted and refused ones."""

import json
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PositionalSharding


def message_of(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def as_lists(tree):
    return jax.tree_util.tree_map(lambda leaf: np.asarray(leaf, np.float64).tolist(), tree)


def in_threads(devices):
    """Each core's thread compiles and runs programs that others also run, all starting at once."""
    programs = [jax.jit(lambda x, factor=factor: (x * factor).sum() + factor) for factor in range(len(devices))]
    wrong = []

    def work(device):
        for i in range(20):
            factor = (device.id + i) % len(programs)
            value = float(programs[factor](jax.device_put(np.full((8, 8), i, np.float32), device)))
            if value != 64 * i * factor + factor:
                wrong.append((device.id, i, value))

    threads = [threading.Thread(target=work, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


devices = jax.devices()
threads = in_threads(devices)
left, right = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
given = jax.device_put(np.arange(4, dtype=np.float32), devices[-1])
doubled = jax.jit(lambda x: x * 2, donate_argnums=0)(given)
rows = np.arange(len(devices), dtype=np.int32)
result = {
    "threads": threads,
    "several results": as_lists(jax.jit(lambda x, y: (x @ y + 1, x.sum(), {"positive": x > 0}))(left, right)),
    "gradient": as_lists(jax.grad(lambda x: jnp.sum(x**3))(jnp.arange(3.0))),
    "scan": as_lists(jax.lax.scan(lambda total, x: (total + x, total * x), 0.0, jnp.arange(5.0))),
    "bfloat16": as_lists(jnp.arange(3, dtype=jnp.bfloat16) + 1),
    "no elements": np.asarray(jnp.zeros((0, 3)) + 1).shape,
    "donated": [as_lists(doubled), given.is_deleted(), doubled.device().id],
    "each core": as_lists(jax.pmap(lambda x: x * 10)(rows)),
    "collective": message_of(lambda: jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(rows)),
    "custom call": message_of(lambda: jnp.linalg.svd(jnp.ones((2, 2)))),
    "partitioned": message_of(
        lambda: jax.jit(lambda x: x + 1)(jax.device_put(np.arange(8.0), PositionalSharding(devices)))
    ),
}
print(json.dumps(result))
