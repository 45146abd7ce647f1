"""Load the plug-in of TPU_LIBRARY_PATH and then that of argv[1] as a framework does, and use both."""

import ctypes
import json
import os
import sys

from pjrt_table import Table

first = Table()
os.environ["TPU_LIBRARY_PATH"] = sys.argv[1]
second = Table()
platform = ctypes.string_at(first.call("PJRT_Client_PlatformName")["platform_name"]).decode()
print(json.dumps({"platform": platform, "slots": [name for name, address in second.slots().items() if address]}))
