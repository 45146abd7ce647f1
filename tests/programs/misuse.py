"""Misuse a PJRT plug-in's objects in every way that `framedex check` detects; print the line of each misuse by kind.

The mock TPU survives all of it: destroyed objects are only passed to functions that do not read them.
"""

import ctypes
import inspect
import json
import os
import threading
import time
from pathlib import Path

from pjrt_table import ABI, Table

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
F32 = ABI["enums"]["PJRT_Buffer_Type"]["PJRT_Buffer_Type_F32"]
DATA = (ctypes.c_float * 6)(*range(6))
DIMS = (ctypes.c_int64 * 2)(2, 3)
EVENT_SIZE = 16

lines = {}
table = Table()
client = table.call("PJRT_Client_Create")["client"]
devices = table.call("PJRT_Client_AddressableDevices", client=client)["addressable_devices"]
device = ctypes.c_void_p.from_address(devices).value


def here(kind):
    """Record the line of the misuse that follows on the same line."""
    lines[kind] = inspect.currentframe().f_back.f_lineno


def put():
    """A buffer on the device."""
    made = table.call(
        "PJRT_Client_BufferFromHostBuffer",
        client=client,
        data=ctypes.addressof(DATA),
        type=F32,
        dims=ctypes.addressof(DIMS),
        num_dims=2,
        device=device,
    )
    table.call("PJRT_Event_Destroy", event=made["done_with_host_buffer"])
    return made["buffer"]


def empty_event():
    """The program's own memory in the shape of an empty event: the plug-in frees it like its own."""
    memory = LIBC.malloc(EVENT_SIZE)
    ctypes.memset(memory, 0, EVENT_SIZE)
    return memory


def refused(function, **fields):
    """Make a call that must return an error."""
    try:
        table.call(function, **fields)
    except RuntimeError:
        return
    raise AssertionError(function)


def switches(tid):
    """How often a thread has waited, or None while it runs."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/self/task/{tid}/status").read_text().splitlines())
    return int(status["voluntary_ctxt_switches"]) if status["State"].startswith("S") else None


def wait_until_asleep(tid):
    """Return when a thread sleeps through half a second in which it could have the GIL, and so waits in a call."""
    before = None
    while before is None or switches(tid) != before:
        before = switches(tid)
        time.sleep(0.5)


buffer = put()
table.call("PJRT_Buffer_Destroy", buffer=buffer)
here("use-after-destroy"), table.call("PJRT_Buffer_IsOnCpu", buffer=buffer)

buffer = put()
table.call("PJRT_Buffer_Delete", buffer=buffer)
table.call("PJRT_Buffer_IsDeleted", buffer=buffer)  # may be queried
here("use-after-delete"), refused("PJRT_Buffer_CopyToDevice", buffer=buffer, dst_device=device)
table.call("PJRT_Buffer_Destroy", buffer=buffer)

here("unknown-destroy"), table.call("PJRT_Event_Destroy", event=empty_event())

event = table.call("PJRT_Event_Create")["event"]
table.call("PJRT_Event_Destroy", event=event)
held = set()
while event not in held:
    held.add(empty_event())
here("double-destroy"), table.call("PJRT_Event_Destroy", event=event)

topology = table.call("PJRT_Client_TopologyDescription", client=client)["topology"]
here("foreign-destroy"), refused("PJRT_TopologyDescription_Destroy", topology=topology)

refused("PJRT_Device_PoisonExecution", device=device)

event = table.call("PJRT_Event_Create")["event"]
thread = threading.Thread(target=lambda: table.call("PJRT_Event_Await", event=event), daemon=True)
thread.start()
wait_until_asleep(thread.native_id)
here("destroyed-in-use"), table.call("PJRT_Event_Destroy", event=event)

kept = [put() for _ in range(3)]
table.call("PJRT_Client_Destroy", client=client)
here("use-after-client"), table.call("PJRT_Buffer_IsOnCpu", buffer=kept[0])

client = table.call("PJRT_Client_Create")["client"]
devices = table.call("PJRT_Client_AddressableDevices", client=client)["addressable_devices"]
device = ctypes.c_void_p.from_address(devices).value
put()
print(json.dumps(lines), flush=True)
os._exit(0)  # the waiting thread never ends
