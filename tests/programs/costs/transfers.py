"""Move data in every documented way, one case each, with JAX's transfer guard logging at the given level.

Lines with a transfer have the comment `# moves`; each case is announced on stderr. It needs four devices.
"""

import copy
import io
import pickle
import sys
import threading
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

CASES: list[Callable[[], object]] = []
host = np.ones((8, 2), np.float32)
devices = jax.devices()
mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
split = NamedSharding(mesh, PartitionSpec("d"))
x, y = jax.device_put(host), jax.device_put(host)
one = jax.device_put(np.float32(1))
over_four = jax.device_put(host, split)


@jax.jit
def add(a, b):
    return a + b


split_add = jax.jit(add, in_shardings=split)


def fresh():
    """An array whose values have not been read."""
    return add(x, y)


def case(function: Callable[[], object]) -> Callable[[], object]:
    """Make a function a case."""
    CASES.append(function)
    return function


@case
def put():
    jax.device_put(host)  # moves


@case
def put_tree():
    jax.device_put({"w": host, "b": np.zeros(2, np.float32)})  # moves


@case
def put_sharded():
    jax.device_put(host, split)  # moves


@case
def put_from_device():
    jax.device_put(x, devices[1])  # moves


@case
def put_own():
    def device_put(values):
        return jnp.asarray(values)  # moves

    device_put(host)


@case
def asarray():
    jnp.asarray(host)  # moves


@case
def array():
    jnp.array([1.0, 2.0])  # moves


@case
def zeros():
    jnp.zeros((5,))  # moves


@case
def operand():
    for _ in range(3):
        add(x, host)  # moves


@case
def operand_scalar():
    for value in range(4):
        add(one, float(value))  # moves


@case
def op_with_scalar():
    x + 1  # moves


@case
def op_with_numpy():
    jnp.sin(host)  # moves


@case
def operand_elsewhere():
    split_add(x, over_four)  # moves


@case
def operand_sharded():
    split_add(over_four, host)  # moves


@case
def nothing():
    add(x, y)
    fresh().block_until_ready()


@case
def index():
    x[1]  # moves


@case
def to_float():
    total = fresh().sum()
    for _ in range(2):
        float(total)  # moves


@case
def to_item():
    fresh().sum().item()  # moves


@case
def condition():
    positive = fresh().any()
    if positive:  # moves
        pass


@case
def text():
    str(fresh())  # moves


@case
def as_list():
    fresh().tolist()  # moves


@case
def numpy_array():
    np.asarray(fresh())  # moves


@case
def numpy_function():
    np.add(fresh(), host)  # moves


@case
def numpy_sharded():
    np.asarray(split_add(over_four, over_four))  # moves


@case
def saved():
    np.save(io.BytesIO(), fresh())  # moves


@case
def pickled():
    pickle.dumps(fresh())  # moves


@case
def copied():
    copy.deepcopy(x)


@case
def ahead():
    z = fresh()
    z.copy_to_host_async()  # moves
    np.asarray(z)


@case
def get():
    jax.device_get({"a": fresh(), "b": 1.0})  # moves


@case
def step_of_loop():
    for _ in range(400):
        float(add(one, one))  # moves


def helper(values):
    """Bring values to the device, for two cases."""
    return jnp.asarray(values)  # moves


@case
def by_helper():
    helper(host)


@case
def by_helper_again():
    for _ in range(2):
        helper(host)


@case
def on_a_thread():
    def work():
        np.asarray(fresh())  # moves

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@case
def callback():
    shape = jax.ShapeDtypeStruct(host.shape, host.dtype)
    jax.jit(lambda a: jax.pure_callback(lambda b: np.asarray(b) * 2, shape, a))(x).block_until_ready()


def main():
    for run in CASES:
        print(f"## {run.__name__}", file=sys.stderr, flush=True)
        run()


jax.config.update("jax_transfer_guard", sys.argv[1])
main()
