"""Call the runtime from callbacks of the runtime, `DEPTH` calls deep, and send `PUTS` arrays from the innermost.

Prints `inside` there and `outside` once all have returned, and waits for a line of input after each.
"""

import ctypes
import sys

import jax
import numpy as np
from pjrt_table import Table

depth, puts = map(int, sys.argv[1:])
jax.device_put(np.zeros(1, np.int8))
table = Table()
event = table.call("PJRT_Event_Create")["event"]
table.call("PJRT_Event_Set", event=event)


def answer(text):
    print(text, flush=True)
    sys.stdin.readline()


def nested(level):
    """Call the runtime, which calls back before it returns."""
    if level == depth:
        for size in range(1, puts + 1):
            jax.device_put(np.zeros(size, np.int8))
        answer("inside")
        return
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda error, argument: nested(level + 1))
    table.call("PJRT_Event_OnReady", event=event, callback=ctypes.cast(function, ctypes.c_void_p).value)


nested(0)
answer("outside")
