"""Loops, and repeated calls without a loop; the first statement of each loop has its number of iterations."""

import jax
import jax.numpy as jnp
import numpy as np

kept = []
params = {"a": jnp.ones(128), "b": jnp.ones(256), "c": jnp.ones(384), "d": jnp.ones(512)}


@jax.jit
def double(x):
    return x * 2.0


@jax.jit
def both(x, y):
    return x + y, x - y


def put(count):
    return jax.device_put(np.ones(count, np.float32))


def single_statements():
    kept.append(jax.tree.map(jnp.zeros_like, params))
    kept.append(jax.tree.map(lambda p: jnp.sum(double(p)), params))
    kept.append([put(8) for _ in range(6)])
    kept.append(list(map(double, params.values())))
    kept.append({name: double(p) for name, p in params.items()})


def init_optimizer():
    return {"mu": jax.tree.map(jnp.zeros_like, params), "nu": jax.tree.map(jnp.zeros_like, params)}


def eight():
    value = jnp.float32(0)
    for _ in range(8):
        value = double(value)  # 8 iterations
    return float(value)


def on_one_line(value):
    for _ in range(5): value = double(value)  # 5 iterations  # fmt: skip  # noqa: E701
    return value


def leaks():
    for _ in range(6):
        kept.append(put(1024))  # 6 iterations: leaks


def several_calls():
    for n in range(7):
        batch = put(16)  # 7 iterations
        total, _ = both(double(batch), batch)
        if n % 3 == 2:
            print(float(jnp.sum(total)))


def tree_beside_others():
    for _ in range(9):
        update = jax.tree.map(lambda p: p * 0.5, params)  # 9 iterations
        double(update["a"]).block_until_ready()


def tree_alone():
    """The number of iterations of these calls is unknown."""
    for _ in range(5):
        jax.tree.map(jnp.negative, params)


def nested():
    value = jnp.ones(4)
    for _ in range(4):
        for _ in range(3):
            value = double(value)  # 12 iterations
        print(float(jnp.max(value)))  # 4 iterations


def while_loop():
    value = jnp.float32(1)
    while value < 30:
        value = double(value)  # 5 iterations


def layer(value):
    value = double(value)
    return both(value, value)[0]


def calls_a_function():
    value = jnp.ones(3)
    for _ in range(6):
        value = layer(value)  # 6 iterations


def within_a_function():
    value = jnp.ones(3)
    for _ in range(2):
        value = layer(value)
        for _ in range(3):
            value = double(value)  # 6 iterations
    return value


def breaks():
    value = jnp.float32(1)
    for _ in range(100):
        value = double(value)  # 7 iterations
        if float(value) >= 128:
            break


def continues_and_fails():
    for n in range(10):
        value = put(4)  # 10 iterations
        if n % 2:
            continue
        try:
            double(value)
            if n % 4:
                raise ValueError
        except ValueError:
            float(jnp.sum(value))


def batches(count):
    for _ in range(count):
        yield put(32)  # 6 iterations


def from_a_generator():
    for batch in batches(6):
        double(batch)  # 6 iterations


def too_few():
    for n in range(3):
        double(jnp.ones(n + 1))


single_statements()
init_optimizer()
eight()
on_one_line(jnp.ones(2))
leaks()
several_calls()
tree_beside_others()
tree_alone()
nested()
while_loop()
calls_a_function()
within_a_function()
breaks()
continues_and_fails()
from_a_generator()
too_few()
