"""Call a handler from several lines with the same parameters: ffi_twins.py LIBRARY.

Prints, for each way, the lines in the expected order of their handler runs, and the shape that identifies it.
"""

import json
import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np

LINES = {}


def norm(name, x):
    """A call to be made on the caller's line, which is recorded."""
    LINES.setdefault(name, []).append(sys._getframe(1).f_lineno)
    return jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))


def call(x):
    return {"eps": np.float32(1)}


ffi_examples.register(sys.argv[1])


def in_one_program(x):
    x = norm("in one program", x)(x, **call(x))
    x = norm("in one program", x)(x, **call(x))
    return norm("in one program", x)(x, **call(x))


def merged(x):
    first = norm("merged", x)(x, **call(x))
    return first + norm("merged", x)(x, **call(x))


def scanned(carry, _):
    carry = norm("in a scan", carry)(carry, **call(carry))
    return norm("in a scan", carry)(carry, **call(carry)), ()


jax.jit(in_one_program)(jnp.ones((1, 3))).block_until_ready()
jax.jit(merged)(jnp.ones((1, 4))).block_until_ready()
x = jnp.ones((1, 5))
x = norm("eagerly", x)(x, **call(x))
x = norm("eagerly", x)(x, **call(x))
x.block_until_ready()
jax.lax.scan(scanned, jnp.ones((1, 6)), length=2)[0].block_until_ready()
shapes = {"in one program": "f32[1,3]", "merged": "f32[1,4]", "eagerly": "f32[1,5]", "in a scan": "f32[1,6]"}
LINES["in a scan"] = LINES["in a scan"][:2] * 2
print(json.dumps({name: [lines, shapes[name]] for name, lines in LINES.items()}))
