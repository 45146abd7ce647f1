"""Save a compiled program, or load and run one that another process saved: ffi_saved.py LIBRARY save|run FILE."""

import json
import pickle
import sys
from pathlib import Path

import ffi_examples
import jax
import jax.numpy as jnp
from jax.experimental import serialize_executable

library, action, file = sys.argv[1:]
ffi_examples.register(library)
x = jnp.ones((2, 4), jnp.float32)


def program(x):
    return ffi_examples.rms_norm(x) + 1


if action == "save":
    compiled = jax.jit(program).lower(x).compile()
    Path(file).write_bytes(pickle.dumps(serialize_executable.serialize(compiled)))
    jax.block_until_ready(compiled(x))
else:
    loaded = serialize_executable.deserialize_and_load(
        *pickle.loads(Path(file).read_bytes()), execution_devices=jax.devices()[:1]
    )
    jax.block_until_ready(loaded(x))
print(json.dumps(program.__code__.co_firstlineno + 1))
