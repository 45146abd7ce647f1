"""The Python half of the mock TPU: programs are compiled and run by jaxlib's own CPU client.

`libtpu.so` loads this package from its own folder, whatever Python and environment it finds itself in, so it needs
nothing but jax. It is not for use from Python.
"""

from .client import Client, prepare_process, release_memory
from .program import Program

__all__ = ["Client", "Program", "prepare_process", "release_memory"]
