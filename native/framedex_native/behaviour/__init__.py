"""Python functions that replace, wrap or watch functions of the TPU runtime.

    from framedex_native.behaviour import on

    @on("PJRT_Client_BufferFromHostBuffer")
    def put(call):
        if call.arguments.bytes > 1 << 20:
            call.fail("RESOURCE_EXHAUSTED", "no more than a MiB at once")

`framedex run --behaviour FILE` runs a program with the behaviours of a file. In your own program, a behaviour is active
from `@on` until `put.remove()`. `with active(FILE):` activates a file's behaviours for a block. Reference:
docs/reference/behaviours.md.
"""

from .behaviours import Behaviour, on
from .calls import Call
from .chips import chip
from .errors import Failed
from .files import BehaviourFileError, active
from .handles import Handle
from .programs import Execution, runs

__all__ = ["Behaviour", "BehaviourFileError", "Call", "Execution", "Failed", "Handle", "active", "chip", "on", "runs"]
