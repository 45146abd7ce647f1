"""Load the plug-in of TPU_LIBRARY_PATH and then those of the arguments as a framework does, and use them."""

import ctypes
import json
import os
import sys

from pjrt_table import Table

first = Table()
for library in sys.argv[1:]:
    os.environ["TPU_LIBRARY_PATH"] = library
    last = Table()
platform = ctypes.string_at(first.call("PJRT_Client_PlatformName")["platform_name"]).decode()
print(json.dumps({"platform": platform, "slots": [name for name, address in last.slots().items() if address]}))
