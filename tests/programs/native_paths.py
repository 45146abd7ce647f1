"""Take the paths of native_paths.cc, compiled to three libraries; print how often signals were handled.

Arguments: the libraries, and how often an array is sent meanwhile (20,000).
"""

import _ctypes
import ctypes
import json
import sys

import jax
import numpy as np
from pjrt_table import FUNCTIONS, Struct, Table

array = np.arange(6, dtype=np.float32)
jax.device_put(array)
table = Table()
client = table.call("PJRT_Client_Create")["client"]


class NativePath:
    """A function of the library that enters a PJRT function."""

    def __init__(self, library, function):
        self.library = library
        self.entry = ctypes.c_void_p(table.slots()[function])
        self.arguments = Struct(FUNCTIONS[function]["args"], client=client)

    def enter(self, path, *more):
        """Take a path, named after its function."""
        return getattr(self.library, path)(self.entry, ctypes.c_void_p(ctypes.addressof(self.arguments.memory)), *more)


library = ctypes.CDLL(sys.argv[1])
index = NativePath(library, "PJRT_Client_ProcessIndex")
assert index.enter("while_an_exception_passes") == 1
index.enter("from_a_thread_without_python")
assert NativePath(library, "PJRT_Client_Devices").enter("from_deep_within_a_thread_without_python", 5000) == 5000
index.enter("through_code_made_at_run_time")

platform = NativePath(library, "PJRT_Client_PlatformName")
platform.enter("arm", ctypes.c_long(200))
for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 20000):
    jax.device_put(array)
handled = library.disarm()

# Two builds of one library, which the loader may put at the same address in succession.
for path in (sys.argv[2], sys.argv[3]) * 20:
    other = ctypes.CDLL(path)
    NativePath(other, "PJRT_Client_PlatformVersion").enter("straight")
    _ctypes.dlclose(other._handle)
print(json.dumps(handled))
