"""Programs of many shapes.

Lines are marked: those of `sine` have a sine of the program that the line of `runs` runs. Run it with four devices.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

STEPS = 3


@jax.jit
def plain(x):
    return jnp.sin(x)  # sine plain


@functools.partial(jax.jit, static_argnames=("power",))
def static(x, *, power):
    return jnp.sin(x) ** power  # sine static


def loss(x):
    return jnp.sin(x).sum()  # sine grad


def one(x):
    return jnp.sin(x) * 2  # sine vmap


@jax.jit
def scanned(xs):
    def step(carry, x):
        return carry + jnp.sin(x), x  # sine scan

    return jax.lax.scan(step, 0.0, xs)


@jax.jit
def looped(x):
    def body(_, x):
        return jnp.sin(x)  # sine fori

    return jax.lax.fori_loop(0, 3, body, x)


@jax.jit
def chosen(x):
    return jax.lax.cond(
        x.sum() > 0,
        lambda x: jnp.sin(x),  # sine cond
        lambda x: x,
        x,
    )


@jax.jit
def rematerialised(x):
    @jax.checkpoint
    def block(x):
        return jnp.sin(x) * jnp.cos(x)  # sine remat

    return jax.grad(lambda x: block(x).sum())(x)


@jax.jit
def inner(x):
    return jnp.sin(x)  # sine nested


@jax.jit
def outer(x):
    return inner(x) + 1


def helper(x):
    return jnp.sin(x)  # sine helper


@jax.jit
def calling(x):
    return helper(x)  # calls helper


@jax.jit
def several(x):
    return jnp.sin(  # sine lines
        x  # same lines
    )


@jax.custom_vjp
def custom(x):
    return jnp.sin(x)  # sine custom


def custom_forward(x):
    return custom(x), x


def custom_backward(x, g):
    return (jnp.cos(x) * g,)


custom.defvjp(custom_forward, custom_backward)


class Model:
    """A method that is jitted."""

    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return jnp.sin(x)  # sine method


def mapped(x):
    return jnp.sin(x)  # sine pmap


def sharded(x):
    return jax.lax.psum(jnp.sin(x), "i")  # sine shard_map


def ahead(x):
    return jnp.sin(x)  # sine aot


@jax.jit
def donated(x):
    return jnp.sin(x)  # sine generator


def values(x):
    for _ in range(STEPS):
        yield donated(x)  # runs generator


def never(x):
    # Never called.
    return jnp.sin(x)  # nothing here


def main():
    x = jnp.arange(4.0)
    for _ in range(STEPS):
        plain(x)  # runs plain
    static(x, power=2)  # runs static
    static(x, power=3)
    jax.jit(jax.grad(loss))(x)  # runs grad
    jax.jit(jax.vmap(one))(x)  # runs vmap
    scanned(x)  # runs scan
    looped(x)  # runs fori
    chosen(x)  # runs cond
    rematerialised(x)  # runs remat
    outer(x)  # runs nested
    calling(x)  # runs helper
    several(x)  # runs lines
    jax.jit(jax.value_and_grad(lambda x: custom(x).sum()))(x)  # runs custom
    Model()(x)  # runs method
    jax.jit(lambda x: jnp.sin(x) + 1)(x)  # both lambda
    jax.pmap(mapped)(np.arange(4.0, dtype=np.float32).reshape(4, 1))  # runs pmap
    mesh = Mesh(np.array(jax.devices()), ("i",))
    shard = jax.jit(jax.shard_map(sharded, mesh=mesh, in_specs=P("i"), out_specs=P()))
    shard(jax.device_put(x, NamedSharding(mesh, P("i"))))  # runs shard_map
    compiled = jax.jit(ahead).lower(x).compile()  # compiles aot
    compiled(x)  # runs aot
    list(values(x))
    jax.block_until_ready(jnp.sin(x))  # both eager


main()
