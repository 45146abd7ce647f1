"""Fault injection by line: what the line FAIL_LINE of the program (`train.py:12`) does with the device fails.

FAIL_TIMES says how often (default: once), FAIL_CODE with which error (default: RESOURCE_EXHAUSTED).
"""

import os

from framedex_native.behaviour import on

LINE = os.environ["FAIL_LINE"]
CODE = os.environ.get("FAIL_CODE", "RESOURCE_EXHAUSTED")
left = int(os.environ.get("FAIL_TIMES", "1"))


@on(
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_Compile",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Buffer_ToHostBuffer",
)
def fail(call):
    global left
    if left and str(call.line) == LINE:
        left -= 1
        call.fail(CODE, f"{call.function} fails on {LINE}, as fail_a_line.py was asked to")
