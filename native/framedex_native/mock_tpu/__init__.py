"""The Python half of the mock TPU: jaxlib's own CPU client compiles and runs the programs.

`libtpu.so` loads this package from its own folder into any Python environment, so it imports only jax. It has no API
for Python programs.
"""

import os

# Share protobuf.py and donations.py with the FFI tracer. Neither package can import the other.
__path__.append(os.path.join(os.path.dirname(__path__[0]), "ffi"))  # noqa: PTH118, PTH120

from .client import Client, prepare_process, release_memory  # noqa: E402
from .program import Program  # noqa: E402

__all__ = ["Client", "Program", "prepare_process", "release_memory"]
