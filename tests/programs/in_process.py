"""Record this process through framedex_native: twice, with a stop inside a call, and calls outside of recordings."""

import ctypes
import json
import os
import sys
import threading
from pathlib import Path

import jax
import numpy as np
from pjrt_table import Table

import framedex_native

folder = Path(sys.argv[1])
recordings = {}
problems = []


def put(size):
    """Send an array identified by its size."""
    return jax.device_put(np.zeros(size, np.int8))


def recorded(name, sizes):
    """Record the sending of arrays of these sizes."""
    started = framedex_native.start(folder)
    if framedex_native.current_capture() != started:
        problems.append(f"{name}: current_capture is {framedex_native.current_capture()}")
    for size in sizes:
        put(size)
    recordings[name] = str(started)
    if framedex_native.stop() != started or framedex_native.current_capture() is not None:
        problems.append(f"{name}: stop")


def raised(function, *arguments):
    """The message of the RuntimeError that a call raises."""
    try:
        function(*arguments)
    except RuntimeError as error:
        return str(error)
    return None


assert os.environ.get("FRAMEDEX_OUT") is None
put(1)
if framedex_native.stop() is not None:
    problems.append("stop without a recording")
recorded("first", [2, 3])
put(4)
recorded("second", [5, 6])

# A second start is refused, and the recording continues.
running = framedex_native.start(folder)
second_start = raised(framedex_native.start, folder)
put(7)
framedex_native.stop()
recordings["refused a second"] = str(running)
Path("file").write_text("")
not_a_folder = raised(framedex_native.start, Path("file") / "captures")

# One recording ends and another begins within a call of the runtime, which belongs to the first.
table = Table()
event = table.call("PJRT_Event_Create")["event"]
table.call("PJRT_Event_Set", event=event)


def callback(error, argument):
    """Called by the runtime from inside PJRT_Event_OnReady."""
    put(8)
    framedex_native.stop()
    put(9)
    recordings["begun inside"] = str(framedex_native.start(folder))
    put(10)


function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(callback)
recordings["ended inside"] = str(framedex_native.start(folder))
table.call("PJRT_Event_OnReady", event=event, callback=ctypes.cast(function, ctypes.c_void_p).value)
put(11)
framedex_native.stop()

# Recordings start and stop while threads call without a pause.
going = threading.Event()


def work():
    """Send arrays until stopped."""
    while not going.is_set():
        put(12)


workers = [threading.Thread(target=work) for _ in range(2)]
for worker in workers:
    worker.start()
for number in range(20):
    recorded(f"restart {number}", [13])
going.set()
for worker in workers:
    worker.join()

result = {"recordings": recordings, "problems": problems, "refusals": [second_start, not_a_folder]}
print(json.dumps(result))
