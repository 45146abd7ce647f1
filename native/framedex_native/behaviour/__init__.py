"""Python functions in place of functions of the TPU runtime: to stand in for them, to wrap them, or to watch.

    from framedex_native.behaviour import on

    @on("PJRT_Client_BufferFromHostBuffer")
    def put(call):
        if call.arguments.bytes > 1 << 20:
            call.fail("RESOURCE_EXHAUSTED", "no more than a MiB at once")

`framedex run --behaviour FILE` runs a program with the behaviours of a file; in a program of one's own they stand from
`@on` on, until `put.remove()`, or for a block: `with active(FILE):`. docs/reference/behaviours.md has all of it.
"""

from .behaviours import Behaviour, on
from .calls import Call
from .chips import chip
from .errors import Failed
from .files import BehaviourFileError, active
from .handles import Handle
from .programs import Execution, runs

__all__ = ["Behaviour", "BehaviourFileError", "Call", "Execution", "Failed", "Handle", "active", "chip", "on", "runs"]
