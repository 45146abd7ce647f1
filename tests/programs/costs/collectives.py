"""Sharded programs with collectives that lines ask for, and others that the compiler inserts. Run it on 8 devices.

The compiler names the op whose result it moves: for a constraint, the op before it.

Prints the number of collectives of each opcode in the compiled programs, by the name of the program.
"""

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
rows = jax.device_put(np.ones((16, 16), np.float32), NamedSharding(mesh, P("x", None)))
columns = jax.device_put(np.ones((16, 16), np.float32), NamedSharding(mesh, P(None, "y")))


def summed(a):
    return jnp.sum(a * 2)  # case: sum


def matrix_product(a, b):
    return a @ b.T  # case: product


def mapped(a):
    return jax.shard_map(
        lambda part: jax.lax.psum(part, "x"),  # case: psum
        mesh=mesh,
        in_specs=P("x"),
        out_specs=P(),
    )(a)


def constrained(a):
    a = jnp.sin(a)  # case: constraint
    return jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P(None, "x"))) * 2


def constrained_here(a):
    return jax.lax.with_sharding_constraint(jnp.sin(a), NamedSharding(mesh, P())) * 3  # case: asked


def looped(a):
    def body(_, a):
        return a / jnp.sum(a)  # case: loop

    return jax.lax.fori_loop(0, 3, body, a)


OPCODES = r"(all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)(?:-start)?\("
counts = {}
for function, arguments in [
    (summed, (rows,)),
    (matrix_product, (rows, columns)),
    (mapped, (rows,)),
    (constrained, (rows,)),
    (constrained_here, (rows,)),
    (looped, (rows,)),
]:
    compiled = jax.jit(function).lower(*arguments).compile()
    found = re.findall(OPCODES, compiled.as_text())
    counts[function.__name__] = {opcode: found.count(opcode) for opcode in sorted(set(found))}
    jax.block_until_ready(compiled(*arguments))
print(json.dumps(counts))
