"""Call a handler through every transformation, dispatch and thread: ffi_matrix.py LIBRARY [DISPATCH...].

The attribute `eps` of every call is its own line number, so each handler run states its expected origin. Prints the
number of programs. With names of dispatches, it runs only these.
"""

import json
import sys
import threading
from functools import partial

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable
from jax.sharding import Mesh, NamedSharding, PartitionSpec

METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


def here():
    """The caller's line as an attribute."""
    return np.float32(sys._getframe(1).f_lineno)


def rms(x, line, method="broadcast_all"):
    """A call whose site is further out: `line` is the caller's, which is also on the stack."""
    return jax.ffi.ffi_call("rms_norm", ffi_examples.like(x), vmap_method=method)(x, eps=line)


def plain(x):
    return rms(x, here())


def twice(x):
    y = rms(x, here())
    return rms(y + 1, here())


def nested_jit(x):
    return jax.jit(lambda y: rms(y, here()))(x) + jax.jit(lambda y: rms(y * 2, here()))(x)


def vmapped(method, x):
    return jax.vmap(lambda row: rms(row, here(), method))(x)


def vmapped_jit(method, x):
    return jax.vmap(jax.jit(lambda row: rms(row, here(), method)))(x)


@jax.custom_vjp
def differentiable(x):
    return rms(x, here())


def _forward(x):
    return rms(x, here()), x


def _backward(x, ct):
    return (rms(x, here()) * ct,)


differentiable.defvjp(_forward, _backward)


def grad(x):
    return jax.grad(lambda y: differentiable(y).sum())(x)


def vjp_of_vmap(x):
    y, pull = jax.vjp(jax.vmap(differentiable), x)
    return pull(y)[0]


def remat(x):
    return jax.grad(lambda y: jax.checkpoint(differentiable)(y).sum())(x)


def scan(x):
    def step(carry, _):
        return rms(carry, here()), ()

    return jax.lax.scan(step, x, length=3)[0]


def scan_of_grad(x):
    def step(carry, _):
        return jax.grad(lambda y: differentiable(y).sum())(carry), ()

    return jax.lax.scan(step, x, length=2)[0]


def while_loop(x):
    def go_on(state):
        return jnp.logical_and(state[0] < 3, rms(state[1], here()).sum() < 1e9)

    def step(state):
        return state[0] + 1, rms(state[1], here())

    return jax.lax.while_loop(go_on, step, (0, x))[1]


def fori_loop(x):
    return jax.lax.fori_loop(0, 3, lambda _, y: rms(y, here()), x)


def cond(x):
    def one(y):
        return rms(y, here())

    def other(y):
        return rms(y * 2, here())

    return jax.lax.cond(x[0, 0] > 0, one, other, x) + jax.lax.cond(x[0, 0] > 0, other, one, x)


def switch(x):
    branches = [lambda y: rms(y, here()), lambda y: rms(y + 1, here()), lambda y: y]
    return jax.lax.switch((x[0, 0] > 0).astype(jnp.int32), branches, x)


def platform_dependent(x):
    return jax.lax.platform_dependent(
        x, cpu=lambda y: rms(y, here()), tpu=lambda y: rms(y, here()), default=lambda y: y
    )


def shard_mapped(x):
    mesh = Mesh(np.array(jax.devices()[:2]), ("rows",))
    spec = PartitionSpec("rows")
    return jax.shard_map(lambda y: rms(y, here()), mesh=mesh, in_specs=spec, out_specs=spec)(x)


def partitioned(x):
    mesh = Mesh(np.array(jax.devices()[:2]), ("rows",))
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, PartitionSpec("rows")))
    return rms(x, here()) + rms(x * 3, here())


def beside_lapack(x):
    q = jnp.linalg.qr(x)[0]
    y = rms(q, here())
    return jnp.linalg.cholesky(y @ y.T + 9 * jnp.eye(4)) @ rms(y, here())


def among_matrix_products(x):
    y = x @ x.T @ x
    return [rms(y + n, here()) @ y.T for n in range(3)] + [rms(y, here())]


PROGRAMS = {
    function.__name__: function
    for function in (
        plain, twice, nested_jit, grad, vjp_of_vmap, remat, scan, scan_of_grad, while_loop, fori_loop, cond, switch,
        platform_dependent, shard_mapped, partitioned, beside_lapack, among_matrix_products,
    )
}  # fmt: skip
PROGRAMS |= {f"vmap {method}": partial(vmapped, method) for method in METHODS}
PROGRAMS |= {f"vmap of jit {method}": partial(vmapped_jit, method) for method in METHODS}


def eager(program, x):
    return program(x)


def jitted(program, x):
    function = jax.jit(program)
    function(x)
    return function(x + 1)  # another run of the same executable


def ahead_of_time(program, x):
    return jax.jit(program).lower(x).compile()(x)


def reloaded(program, x):
    compiled = jax.jit(program).lower(x).compile()
    devices = compiled.runtime_executable().local_devices()
    parts = serialize_executable.serialize(compiled)
    return serialize_executable.deserialize_and_load(*parts, execution_devices=devices)(x)


DISPATCHES = (eager, jitted, ahead_of_time, reloaded)


def run(dispatch, program, x):
    # A constraint of a partitioned program is meaningless outside of one.
    if dispatch is eager and program is partitioned:
        return 0
    jax.block_until_ready(dispatch(program, x))
    return 1


def main():
    ffi_examples.register(sys.argv[1])
    x = jnp.linspace(-1, 1, 32, dtype=jnp.float32).reshape(4, 8)
    count = 0
    names = sys.argv[2:]
    for dispatch in DISPATCHES:
        if names and dispatch.__name__ not in names:
            continue
        for program in PROGRAMS.values():
            count += run(dispatch, program, x)
    # In separate threads, several programs concurrently.
    counts = []
    todo = [(dispatch, program) for dispatch in (eager, jitted) if not names for program in PROGRAMS.values()]
    threads = [threading.Thread(target=lambda part: counts.extend(run(*one, x) for one in part), args=(todo[n::4],)) for n in range(4)]  # fmt: skip  # noqa: E501
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"programs": count, "programs_in_threads": sum(counts)}))


main()
