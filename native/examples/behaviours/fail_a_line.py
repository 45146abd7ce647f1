"""Fault injection by line: device calls of the program's line FAIL_LINE (`train.py:12`) fail.

FAIL_TIMES is the number of failures (default: 1), FAIL_CODE the error code (default: RESOURCE_EXHAUSTED).
"""

import os

from framedex_native.behaviour import on

LINE = os.environ["FAIL_LINE"]
CODE = os.environ.get("FAIL_CODE", "RESOURCE_EXHAUSTED")
remaining = int(os.environ.get("FAIL_TIMES", "1"))


@on(
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_Compile",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Buffer_ToHostBuffer",
)
def fail(call):
    global remaining
    if remaining and str(call.line) == LINE:
        remaining -= 1
        call.fail(CODE, f"{call.function} fails on {LINE}: injected by fail_a_line.py")
