"""The Python half of the mock TPU: programs are compiled and run by jaxlib's own CPU client.

`libtpu.so` loads this package from its own folder, whatever Python and environment it finds itself in, so it needs
nothing but jax. It is not for use from Python.
"""

import os

# One module of the FFI tracer's is also this package's: protobuf.py. Neither package can import the other.
__path__.append(os.path.join(os.path.dirname(__path__[0]), "ffi"))  # noqa: PTH118, PTH120

from .client import Client, prepare_process, release_memory  # noqa: E402
from .program import Program  # noqa: E402

__all__ = ["Client", "Program", "prepare_process", "release_memory"]
