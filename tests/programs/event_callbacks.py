"""Register a callback for an event that another thread sets, with an error, when a line of input requests it."""

import ctypes
import sys
import threading

import jax
from pjrt_table import Table

CANCELLED = 1
jax.devices()
table = Table()
event = table.call("PJRT_Event_Create")["event"]
received = []


def answer(text):
    print(text, flush=True)
    sys.stdin.readline()


def set_event():
    message = ctypes.create_string_buffer(b"too late")
    address = ctypes.addressof(message)
    table.call("PJRT_Event_Set", event=event, error_code=CANCELLED, error_message=address, error_message_size=8)


function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda error, argument: received.append(argument))
table.call("PJRT_Event_OnReady", event=event, callback=ctypes.cast(function, ctypes.c_void_p).value, user_arg=77)
answer(f"pending {event}")
thread = threading.Thread(target=set_event)
thread.start()
thread.join()
assert received == [77]
answer(f"fired {thread.native_id}")
