"""Compiles and runs programs of JAX 0.4.13 on its own jaxlib's CPU client, in place of TPU compiler and cores.

`libtpu.so` loads this package from the folder next to it. It compiles each program for one CPU device, and runs it
there once for each core. Compilation therefore refuses communication between cores, or with the host during execution.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from typing import Any

import numpy as np
from jaxlib import xla_client

# Only that jaxlib has this module.
_xla: Any = importlib.import_module("jaxlib.xla_extension")
# Operations that behave differently on one CPU device than on several cores, or need TPU code.
_REFUSED = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "custom-call",
    "infeed",
    "outfeed",
    "partition-id",
    "recv",
    "reduce-scatter",
    "replica-id",
    "send",
)
_INSTRUCTION = re.compile(rf"[\])}}] ({'|'.join(_REFUSED)})(?:-start|-done)?\(")
# Created at import, by one thread: buffers and programs of different clients are incompatible.
_CLIENT: Any = xla_client.make_cpu_client()
_DONATION = re.compile(r"tf\.aliasing_output = \d+ : i32")


class Program:
    """A compiled program. `parameters` holds the NumPy type and the dimensions of each parameter."""

    def __init__(self, executable: Any, parameters: list[tuple[Any, tuple[int, ...]]]) -> None:
        self._executable = executable
        self._parameters = parameters

    def execute(self, addresses: list[int]) -> list[bytes]:
        """Run the program on arguments at these addresses, and return the row-major bytes of each result."""
        arrays = [_array(address, *parameter) for address, parameter in zip(addresses, self._parameters, strict=True)]
        results = self._executable.execute([_CLIENT.buffer_from_pyval(array) for array in arrays])
        return [np.asarray(result).tobytes() for result in results]


def compile_program(module: bytes) -> Program:
    """Compile a serialised HloModuleProto. If it is refused, raises RuntimeError with a leading status code."""
    computation = xla_client.XlaComputation(module)
    _check(computation)
    # JAX has already checked the donations. The CPU client receives copies and must not donate them.
    text = _DONATION.sub("framedex.donated = true", _xla.mlir.xla_computation_to_mlir_module(computation))
    executable = _CLIENT.compile(text, xla_client.CompileOptions())
    shapes = computation.program_shape().parameter_shapes()
    return Program(executable, [(shape.numpy_dtype(), shape.dimensions()) for shape in shapes])


def _check(computation: Any) -> None:
    refused = sorted({match[1] for match in _INSTRUCTION.finditer(computation.as_hlo_text())})
    if refused:
        raise RuntimeError(
            f"UNIMPLEMENTED: The mock TPU runs programs of JAX 0.4.13 that stay on one core; {computation.name()} has"
            f" {', '.join(refused)}."
        )


def _array(address: int, dtype: Any, dimensions: tuple[int, ...]) -> Any:
    """View the array at an address, without a copy."""
    size = int(np.prod(dimensions)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.zeros(dimensions, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(dimensions)
