"""Programs whose lines XLA fuses; prints the lines in the fusions of the compiler's text, by the name of the program.

Each fusion is a list of pairs: a line, and the number of its ops.
"""

import json
import re
from collections import Counter

import jax
import jax.numpy as jnp


def chain(x):
    a = jnp.sin(x) * 2  # case: first
    b = a + jnp.cos(x)  # case: second
    c = b / 3  # case: third
    return c @ x


def layers(x):
    for _ in range(4):
        x = jnp.tanh(x @ x)  # case: product
        x = x * 2 + 1  # case: scale
    return x


def single(x):
    a = jnp.sin(x) * jnp.cos(x) + 1  # case: single
    return a @ x


def fused_lines(text):
    """The lines of each fusion, from the tables and computations of XLA's text."""
    locations = dict(re.findall(r"^(\d+) \{file_name_id=\d+ function_name_id=\d+ line=(\d+) ", text, re.MULTILINE))
    frames = dict(re.findall(r"^(\d+) \{file_location_id=(\d+) ", text, re.MULTILINE))
    computations = dict(re.findall(r"^%(\S+) \(.*\{\n((?:  .*\n)+)\}", text, re.MULTILINE))
    for called in re.findall(r" fusion\(.*calls=%([\w.-]+)", text):
        ops = re.findall(r"op_name=\"[^\"]+\" stack_frame_id=(\d+)", computations[called])
        yield sorted(Counter(int(locations[frames[frame]]) for frame in ops).items())


said = {}
for function in (chain, layers, single):
    compiled = jax.jit(function).lower(jnp.ones((64, 64))).compile()
    said[function.__name__] = list(fused_lines(compiled.as_text()))
    jax.block_until_ready(compiled(jnp.ones((64, 64))))
print(json.dumps(said))
