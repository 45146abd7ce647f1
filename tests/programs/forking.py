"""Fork with the runtime open; parent and child send arrays with sizes that identify them.

plain: fork between two calls. inside-a-call: fork in a callback of the runtime; the child leaves that call long after
its parent continued.
"""

import ctypes
import json
import os
import sys

import jax
import numpy as np
from pjrt_table import Table


def put(size):
    """Send an array identified by its size."""
    return jax.device_put(np.zeros(size, np.int8))


def child_ended(child):
    """The exit status of the child."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def plain():
    """The child sends arrays of 101 and 102 bytes."""
    child = os.fork()
    if child == 0:
        put(101)
        put(102)
        os._exit(0)
    status = child_ended(child)
    return child, status


def inside_a_call():
    """The child returns from the callback after the parent has sent 200 more arrays."""
    table = Table()
    event = table.call("PJRT_Event_Create")["event"]
    table.call("PJRT_Event_Set", event=event)
    parent_went_on, tell_child = os.pipe()
    forked = []

    def callback(error, argument):
        forked.append(os.fork())
        if forked[0] == 0:
            os.read(parent_went_on, 1)
        else:
            put(500)

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(callback)
    table.call("PJRT_Event_OnReady", event=event, callback=ctypes.cast(function, ctypes.c_void_p).value)
    if forked[0] == 0:
        put(101)
        put(102)
        os._exit(0)
    for size in range(1000, 1200):
        put(size)
    os.write(tell_child, b"x")
    return forked[0], child_ended(forked[0])


put(1)
put(2)
child, status = {"plain": plain, "inside-a-call": inside_a_call}[sys.argv[1]]()
put(3)
print(json.dumps({"child": child, "status": status}))
