"""Runs the programs of a JAX 0.4.13 on its own jaxlib's CPU client: what stands in for the TPU's compiler and cores.

`libtpu.so` loads this package from the folder beside it. A program is compiled for one CPU device and run there for
each core, so whatever would have cores talk to one another, or to the host while they run, is refused when it is
compiled.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from typing import Any

import numpy as np
from jaxlib import xla_client

# Of that jaxlib; today's has no such module.
_xla: Any = importlib.import_module("jaxlib.xla_extension")
# What is not the same on one CPU device as on several cores, or needs the TPU's own code.
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
# Made with the module, which one thread imports: buffers and programs of two clients do not go together.
_CLIENT: Any = xla_client.make_cpu_client()
_DONATION = re.compile(r"tf\.aliasing_output = \d+ : i32")


class Program:
    """A compiled program with `parameters`, the NumPy type and the dimensions of each."""

    def __init__(self, executable: Any, parameters: list[tuple[Any, tuple[int, ...]]]) -> None:
        self._executable = executable
        self._parameters = parameters

    def execute(self, addresses: list[int]) -> list[bytes]:
        """The bytes of each result, row-major, from those at the addresses of the arguments."""
        arrays = [_array(address, *parameter) for address, parameter in zip(addresses, self._parameters, strict=True)]
        results = self._executable.execute([_CLIENT.buffer_from_pyval(array) for array in arrays])
        return [np.asarray(result).tobytes() for result in results]


def compile_program(module: bytes) -> Program:
    """Compile a serialised HloModuleProto. Raises RuntimeError, which begins with a status code, if it is refused."""
    computation = xla_client.XlaComputation(module)
    _check(computation)
    # JAX has checked by now what is donated; the CPU client is given copies, which it must not give away.
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
    """The array that lies at an address, without a copy."""
    size = int(np.prod(dimensions)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.zeros(dimensions, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(dimensions)
