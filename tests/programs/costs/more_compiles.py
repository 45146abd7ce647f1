"""Compile for reasons not in compiles.py; each compiling call has the name of its case.

Needs two devices.
"""

import contextlib
import dataclasses
import enum
import functools

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_log_compiles", True)
ones = functools.partial(np.ones, dtype=np.float32)


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    mode: Mode = Mode.FAST


@dataclasses.dataclass(eq=False)
class Options:
    width: int = 2


class Unprintable:
    def __repr__(self):
        raise SystemExit("a representation that nobody asked for")


class Model:
    def __init__(self, scale):
        self.scale = scale

    @functools.partial(jax.jit, static_argnums=0)
    def method(self, x):
        return x * self.scale


@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["rate", "name"])
@dataclasses.dataclass
class State:
    weights: np.ndarray
    name: str
    rate: float


@functools.partial(jax.jit, static_argnums=1)
def configured(x, config):
    return x * config.width


@functools.partial(jax.jit, static_argnums=1)
def with_function(x, function):
    return function(x)


@functools.partial(jax.jit, static_argnames=("a", "b"))
def keywords(x, a=1, b=1):
    return x * a * b


@jax.jit
def ignoring(x, ignored):
    return x * 2.0


@jax.jit
def promoted(x, y):
    return x + y


@jax.jit
def loop(x):
    return jax.lax.while_loop(lambda y: y.sum() < 10.0, lambda y: y + 1.0, x)


@jax.jit
def calling_back(x):
    return jax.pure_callback(lambda y: y, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@jax.jit
def product(x):
    return x @ x


@jax.jit
def wide(x):
    return x + 7


@jax.jit
def weak(x):
    return x + 1


@jax.jit
def placed(x):
    return x * 3.0


@jax.jit
def tuned(x):
    return x * 4.0


@functools.partial(jax.jit, static_argnums=1)
def ahead_of_time(x, n):
    return x * n


@functools.partial(jax.jit, static_argnums=1)
def with_odd(x, odd):
    return x * 6.0


@jax.jit
def outer(x):
    return inner(x) + 1.0


@functools.partial(jax.jit, static_argnames="n")
def inner(x, n=2):
    return x * n


@functools.partial(jax.jit, static_argnames="is_training")
def stepping(x, is_training):
    return x * 3.0 if is_training else x


@jax.jit
def random(key):
    return jax.random.normal(key, (3,))


@jax.jit
def contained(tree):
    return jax.tree.leaves(tree)[0] + 2.0


@jax.jit
def registered(tree):
    return jax.tree.leaves(tree)[0] + 3.0


@functools.partial(jax.jit, static_argnums=1)
def with_tree(x, tree):
    return x * 7.0


@functools.partial(jax.jit, static_argnums=0)
def several(n):
    return tuple(jnp.zeros(3) for _ in range(n))


def total(x):
    return x.sum()


def power(n, x):
    return x**n


def scaling_by(scale):
    return lambda x: x * scale


def linear_loss(x, scale):
    return (x * scale).sum()


def loss(w):
    return (w**2).sum()


for config in (Config(2), Config(3), Config(3, Mode.EXACT)):
    configured(ones(3), config)  # case: configured
for _ in range(2):
    configured(ones(3), Options())  # case: unequal
for function in (jnp.sin, jnp.cos):
    with_function(ones(3), function)  # case: function
for _ in range(2):
    with_function(ones(3), lambda x: x + 1.0)  # case: new_lambda
for scale in (2.0, 3.0):
    jax.jit(scaling_by(scale))(ones(3))  # case: captured
for a in ({}, {"a": 2}, {"b": 2}):
    keywords(ones(3), **a)  # case: keywords
for scale in (2.0, 3.0):
    Model(scale).method(ones(3))  # case: method
for ignored in (ones(1), ones(2), ones((2, 2))):
    ignoring(ones(3), ignored)  # case: ignoring
for y in (ones(3), np.ones(3, np.int32), 1, 1.5):
    promoted(ones(3), y)  # case: promoted
for size in (2, 3):
    loop(ones(size))  # case: loop
for size in (2, 3):
    calling_back(ones(size))  # case: calling_back
for precision in ("float32", "bfloat16"):
    with jax.default_matmul_precision(precision):
        product(ones((4, 4)))  # case: precision
for is_wide in (False, True):
    jax.config.update("jax_enable_x64", is_wide)
    wide(np.ones(3, np.int64))  # case: x64
jax.config.update("jax_enable_x64", False)
for number in (1.0, np.float32(1.0)):
    weak(number)  # case: weak
for device in jax.devices()[:2]:
    placed(jax.device_put(ones(3), device))  # case: placed
for level in (0, 1):
    tuned.lower(ones(3)).compile(compiler_options={"xla_backend_optimization_level": level})  # case: options
for n in (2, 3):
    ahead_of_time.lower(ones(3), n).compile()  # case: ahead_of_time
for size in (2, 3):
    outer(ones(size))  # case: nested
for size in (2, 3):
    jax.grad(jax.jit(loss))(ones(size))  # case: gradient
difference = jax.grad(lambda x, y: jnp.subtract(x, y).sum())
for size in (3, 1):
    difference(ones(3), ones(size))  # case: equal_passes
linear = jax.value_and_grad(jax.jit(linear_loss))
for size in (2, 3):
    linear(ones(size), 2.0)  # case: equal_backward_arguments
for is_training in (True, False):
    stepping(ones(3), is_training)
stepping(ones(2), True)  # case: nearest
for key in (jax.random.PRNGKey(0), jax.random.key(0)):
    random(key)  # case: random
for size in (2, 2):
    jax.pmap(lambda x: x * 5.0)(ones((size, 3)))  # case: pmap
with contextlib.suppress(jax.errors.JaxRuntimeError):
    tuned.lower(ones(3)).compile(compiler_options={"no_such_option": 1})  # case: failed
for _ in range(2):
    with_odd(ones(3), Unprintable())  # case: unprintable
for kind in (list, tuple):
    contained(kind([ones(3), ones(3)]))  # case: container
for rate in (0.1, 0.2):
    registered({"state": [State(ones(5), "sgd", rate)]})  # case: registered
for _ in range(2):
    registered(State(ones(6), "sgd", Options()))  # case: unequal_data
for rate in (0.1, 0.2):
    with_tree(ones(5), jax.tree.structure(State(1, "sgd", rate)))  # case: static_tree
for n in (2, 3):
    several(n)  # case: without_arrays
for donated in ((), 0):
    jax.jit(total, donate_argnums=donated)(jax.device_put(ones(7)))  # case: donated_in_vain
for n in (2, 3):
    jax.jit(functools.partial(power, n))(ones(3))  # case: partial
for dtype in (np.int32, np.float32):
    jax.jit(jax.lax.convert_element_type, static_argnums=1)(ones(9), dtype)  # case: without_ops
product(ones((6, 6)))
mesh = jax.make_mesh((2,), ("d",))
with jax.set_mesh(mesh):
    product(ones((6, 6)))  # case: mesh
doubled_halves = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P("d"))
halved = jax.device_put(ones(8), jax.NamedSharding(mesh, jax.P("d")))
for _ in range(2):
    doubled_halves(halved)  # case: eager_shard_map
