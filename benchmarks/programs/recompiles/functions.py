"""Recompile because a function, a wrapper or a captured value is new, or the cache is."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


def _ones(*shape):
    return np.ones(shape, np.float32)


X = _ones(4)


def _square(x):
    return (x**2).sum()


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.step = jax.jit(self._step)

    def _step(self, x):
        return x - self.rate * x


def lambda_in_a_loop():
    for _ in range(2):
        jax.jit(lambda x: x + 1)(X)  # function: <lambda>


def function_from_a_factory():
    def make(scale):
        def scaled(x):
            return x * scale

        return jax.jit(scaled)

    for scale in (2.0, 3.0):
        make(scale)(X)  # function: scaled


def partial_in_a_loop():
    def power(n, x):
        return x**n

    for n in (2, 3):
        jax.jit(functools.partial(power, n))(X)  # function: power


def method_jitted_by_each_object():
    for rate in (0.1, 0.2):
        Trainer(rate).step(X)  # function: _step


def body_of_scan():
    for _ in range(2):
        jax.lax.scan(lambda carry, x: (carry + x, carry), 0.0, X)  # function: jaxpr


def branches_of_cond():
    for _ in range(2):
        jax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, X)  # function: branches


def body_of_while_loop():
    for _ in range(2):
        jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x + 1, X)  # function: cond_jaxpr; function: body_jaxpr


def body_of_fori_loop():
    for _ in range(2):
        jax.lax.fori_loop(0, 3, lambda _, x: x + 1, X)  # function: jaxpr


def function_of_map():
    for _ in range(2):
        jax.lax.map(lambda x: x + 1, X)  # function: jaxpr


def gradient_of_jit():
    gradient = jax.grad(jax.jit(_square))
    for size in (2, 3):
        gradient(_ones(size))  # shape of array argument 1; another pass of a derivative


def value_and_gradient_of_jit():
    gradient = jax.value_and_grad(jax.jit(lambda x, y: (x * y).sum()))
    for size in (2, 3):
        gradient(_ones(size), 2.0)  # shape of array argument 1; another pass of a derivative


def jit_of_gradient_in_a_loop():
    for _ in range(2):
        jax.jit(jax.grad(_square))(X)  # function: _square


def vmap_of_jit():
    batched = jax.vmap(jax.jit(_square))
    for size in (2, 3):
        batched(_ones(size, 4))  # shape of x


def jit_of_vmap_in_a_loop():
    for axis in (0, 1):
        jax.jit(jax.vmap(_square, in_axes=axis))(_ones(4, 4))  # function: _square


def derivative_of_jit():
    function = jax.jit(jnp.sin)
    for size in (2, 3):
        jax.jvp(function, (_ones(size),), (_ones(size),))  # shape of array argument 1; shape of array argument 2


def checkpoint_in_a_loop():
    for _ in range(2):
        jax.jit(jax.checkpoint(_square))(X)  # function: _square


def custom_derivative_in_a_loop():
    for _ in range(2):

        @jax.custom_jvp
        def halved(x):
            return x / 2

        halved.defjvp(lambda primals, tangents: (halved(*primals), tangents[0] / 2))
        jax.jit(halved)(X)  # function: halved


def eager_shard_map():
    mesh = jax.make_mesh((2,), ("d",))
    x = jax.device_put(X, jax.NamedSharding(mesh, jax.P("d")))
    for _ in range(2):
        increment = jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P("d"))
        increment(x)  # function: _unmatch of JAX


def pmap_in_a_loop():
    for _ in range(2):
        jax.pmap(lambda x: x * 5.0)(_ones(2, 3))  # function: _fun


def captured_value():
    offsets = [1.0]

    def shifted(x):
        return x + offsets[-1]

    for offset in (1.0, 2.0):
        offsets.append(offset)
        jax.clear_caches()
        jax.jit(shifted)(X)  # constants


def cleared_cache():
    doubled = jax.jit(lambda x: x * 2)
    for _ in range(2):
        doubled(X)  # an identical program
        jax.clear_caches()


def other_donation():
    for donated in ((), (0,)):
        jax.jit(_square, donate_argnums=donated)(jnp.array(X))  # donation of x


def nested_static_argument():
    @functools.partial(jax.jit, static_argnums=1)
    def power(x, n):
        return x**n

    @functools.partial(jax.jit, static_argnums=1)
    def outer(x, n):
        return power(x, n) + 1

    for n in (2, 3):
        outer(X, n)  # static argument n


def nested_shape():
    inner = jax.jit(_square)
    outer = jax.jit(lambda x: inner(x) + 1)
    for size in (2, 3):
        outer(_ones(size))  # shape of x


def callback_in_a_loop():
    kind = jax.ShapeDtypeStruct((4,), np.float32)
    for _ in range(2):
        jax.jit(lambda x: jax.pure_callback(lambda y: y, kind, x))(X)  # function: <lambda>


def compiled_ahead_of_time_twice():
    doubled = jax.jit(lambda x: x * 2)
    for size in (4, 5):
        doubled.lower(_ones(size)).compile()  # shape of x


def compiler_options():
    for level in (0, 1):
        options = {"xla_backend_optimization_level": level}
        jax.jit(_square, compiler_options=options)(X)  # compile option xla_backend_optimization_level
