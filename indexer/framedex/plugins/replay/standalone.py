"""Write a reduced program as a script that needs only JAX and NumPy, to attach to a bug report."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

from framedex.plugins.replay.runner import Array

_MAX_BYTES = 1 << 20
"""The maximum size of a script's program and arrays."""

SCRIPT_HEAD = '"""A reduced program of framedex, which shows a fault with JAX alone."""\n'

_SCRIPT = """\
{head}
import base64
import zlib

import jax
import ml_dtypes
import numpy as np
from jax.extend.backend import get_backend
from jaxlib import xla_client

COMMAND = {command}  # the recorded one
PROGRAM = {program}
ARGUMENTS = [  # element type, shape, bytes
{arguments}
]
EXPECTED = {expected}


def array(kind, shape, content):
    dtype = getattr(ml_dtypes, kind, None) or getattr(np, kind)
    values = np.frombuffer(zlib.decompress(base64.b64decode(content)), dtype)
    return jax.device_put(values.reshape(shape))


jax.config.update("jax_enable_x64", True)
client, options = get_backend(), xla_client.CompileOptions()
if hasattr(client, "compile_and_load"):
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(PROGRAM.encode(), devices, options)
else:
    executable = client.compile(PROGRAM, options)
results = executable.execute_sharded([array(*each) for each in ARGUMENTS])
for (result,) in results.disassemble_into_single_device_arrays():
    print("here    ", np.asarray(result))
    if EXPECTED is not None:
        print("expected", np.asarray(array(*EXPECTED)))
"""
_TYPES = {"PRED": "bool_", "BF16": "bfloat16", "C64": "complex64", "C128": "complex128"}
_KINDS = {"S": "int", "U": "uint", "F": "float"}


def build_standalone_script(
    command: str, program: str, arguments: Sequence[Array], expected: Array | None
) -> str | None:
    """Return the text of the script; None if it is too large. All of it may come from a stranger's file."""
    arrays = arguments if expected is None else (*arguments, expected)
    if len(program) + sum(len(each.content) for each in arrays) > _MAX_BYTES:
        return None
    return _SCRIPT.format(
        head=SCRIPT_HEAD,
        command=ascii(command),
        program=ascii(program) if '"""' in program else f'r"""\n{program}"""',
        arguments="\n".join(f"    {_build_array(each)}," for each in arguments),
        expected=None if expected is None else _build_array(expected),
    )


def _build_array(array: Array) -> str:
    content = base64.b64encode(zlib.compress(array.content, 9)).decode()
    return repr((_find_numpy_name(array.type), array.dimensions, content))


def _find_numpy_name(kind: str) -> str:
    """Return NumPy's name of an element type: `F32` is `float32`, `F8E4M3FN` is `float8_e4m3fn`."""
    if kind in _TYPES:
        return _TYPES[kind]
    bits = "".join(each for each in kind[1:3] if each.isdigit())
    form = kind[1 + len(bits) :].lower()
    return f"{_KINDS.get(kind[0], kind[0])}{bits}" + (f"_{form}" if form else "")
