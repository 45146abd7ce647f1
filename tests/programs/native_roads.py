"""Take the paths of native_roads.cc, compiled to three libraries; print how often signals were handled.

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


class Road:
    """A function of the library that enters a PJRT function."""

    def __init__(self, library, function):
        self.library = library
        self.entry = ctypes.c_void_p(table.slots()[function])
        self.arguments = Struct(FUNCTIONS[function]["args"], client=client)

    def go(self, road, *more):
        """Take a path, named after its function."""
        return getattr(self.library, road)(self.entry, ctypes.c_void_p(ctypes.addressof(self.arguments.memory)), *more)


library = ctypes.CDLL(sys.argv[1])
index = Road(library, "PJRT_Client_ProcessIndex")
assert index.go("while_an_exception_passes") == 1
index.go("from_a_thread_without_python")
assert Road(library, "PJRT_Client_Devices").go("from_deep_within_a_thread_without_python", 5000) == 5000
index.go("through_code_made_at_run_time")

platform = Road(library, "PJRT_Client_PlatformName")
platform.go("arm", ctypes.c_long(200))
for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 20000):
    jax.device_put(array)
handled = library.disarm()

# Two builds of one library, which the loader may put at the same address in succession.
for path in (sys.argv[2], sys.argv[3]) * 20:
    other = ctypes.CDLL(path)
    Road(other, "PJRT_Client_PlatformVersion").go("straight")
    _ctypes.dlclose(other._handle)
print(json.dumps(handled))
