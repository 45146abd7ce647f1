"""Call watched functions as a C client does: without the GIL, while another thread holds it, after a fork, at the end.

python odd_threads.py

Prints the results as JSON; run by test_odd_threads.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import framedex_native
from framedex_native.behaviour import Call, Failed, active, on

ABI = json.loads((Path(__file__).parents[3] / "native" / "abi" / "pjrt_c_api.json").read_text())
NAMES = [function["name"] for function in ABI["functions"]]
FIRST = 2 * ctypes.sizeof(ctypes.c_void_p) + ABI["structs"]["PJRT_Api_Version"]["size"]
LIBRARY = ctypes.CDLL(str(framedex_native.library_path()))
LIBRARY.GetPjrtApi.restype = ctypes.c_void_p
TABLE = LIBRARY.GetPjrtApi()
seen: list[str] = []
ways: dict[str, Callable[[Call], object]] = {}


@on("PJRT_Event_IsReady", "PJRT_Event_Await")
def event(call: Call) -> None:
    """Run the function of the current program part."""
    seen.append(call.function)
    ways["now"](call)


def arguments(name: str, **values: int) -> Any:
    """An argument struct with these fields."""
    described = ABI["structs"][f"{name}_Args"]
    memory = ctypes.create_string_buffer(described["size"])
    for field, value in {"struct_size": described["struct_size"], **values}.items():
        offset = next(each["offset"] for each in described["fields"] if each["name"] == field)
        ctypes.c_uint64.from_buffer(memory, offset).value = value
    return memory


def entry(name: str) -> int:
    """The address of the function that is now in the table."""
    address = ctypes.c_void_p.from_address(TABLE + FIRST + 8 * NAMES.index(name)).value
    assert address is not None
    return address


def call(name: str, memory: Any) -> int | None:
    """Call the function of the table without the GIL. Returns the address of its error."""
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(entry(name))
    error: int | None = function(ctypes.byref(memory))
    return error


def new_event() -> int:
    """An event that is not set."""
    memory = arguments("PJRT_Event_Create")
    assert call("PJRT_Event_Create", memory) is None
    event: int = ctypes.c_uint64.from_buffer(memory, 16).value
    return event


def is_ready(event: int) -> bool:
    """The result of PJRT_Event_IsReady."""
    memory = arguments("PJRT_Event_IsReady", event=event)
    assert call("PJRT_Event_IsReady", memory) is None
    return bool(memory.raw[24])


def timed(action: Callable[[], object]) -> tuple[object, float]:
    """The return value and the duration in seconds."""
    start = time.monotonic()
    result = action()
    return result, time.monotonic() - start


def lock_held_elsewhere(event: int) -> dict[str, Any]:
    """This thread waits with the GIL for a C thread that makes the call: jaxlib 0.10 does so in PJRT_Compile."""
    ways["now"] = lambda call: None
    before = len(seen)
    with_lock = ctypes.PyDLL(None)
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(entry("PJRT_Event_IsReady"))
    memory = arguments("PJRT_Event_IsReady", event=event)
    thread = ctypes.c_ulong()

    def wait_for_call() -> None:
        with_lock.pthread_create(ctypes.byref(thread), None, function, ctypes.byref(memory))
        with_lock.pthread_join(thread, None)

    return {"seconds": timed(wait_for_call)[1], "seen": len(seen) - before}


def slow_behaviour(event: int) -> dict[str, Any]:
    """A behaviour that waits is abandoned after a second; its stack does not go to Python's stderr."""
    is_over = threading.Event()
    ways["now"] = lambda call: is_over.wait(60)
    with contextlib.redirect_stderr(io.StringIO()):
        ready, took = timed(lambda: is_ready(event))
    is_over.set()
    return {"seconds": took, "ready": ready}


def slow_default() -> dict[str, Any]:
    """A behaviour around a wait of more than a second is not abandoned."""
    waited = new_event()
    reports: list[bool] = []

    def run(watched: Call) -> None:
        watched.run()
        reports.append(True)

    ways["now"] = run
    setting = threading.Timer(1.2, lambda: call("PJRT_Event_Set", arguments("PJRT_Event_Set", event=waited)))
    setting.start()
    error, took = timed(lambda: call("PJRT_Event_Await", arguments("PJRT_Event_Await", event=waited)))
    return {"seconds": took, "error": error, "reports": len(reports)}


def void_function() -> dict[str, Any]:
    """A behaviour fails where no error can be returned: the caller gets the function's own result."""
    with active():

        @on("PJRT_Event_Create")
        def refuses(call: Call) -> None:
            call.fail("ABORTED", "said by a behaviour")

        @on("PJRT_Error_Message")
        def fails(call: Call) -> None:
            raise Failed("INTERNAL", "said to nobody")

        error = call("PJRT_Event_Create", arguments("PJRT_Event_Create"))
        assert error is not None
        memory = arguments("PJRT_Error_Message", error=error)
        call("PJRT_Error_Message", memory)
    text, size = ctypes.c_uint64.from_buffer(memory, 24).value, ctypes.c_uint64.from_buffer(memory, 32).value
    return {"message": ctypes.string_at(text, size).decode() if text else ""}


def forked(event: int) -> dict[str, Any]:
    """A child process has no behaviours, and calls still work."""
    ways["now"] = lambda call: None
    before = len(seen)
    child = os.fork()
    if child == 0:
        is_ready(event)
        os._exit(len(seen) - before)
    return {"seen": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}


def leave_while_calls_go_on(event: int) -> None:
    """End the program while threads call watched functions without a pause."""
    ways["now"] = lambda call: call.run()

    def for_ever() -> None:
        while True:
            is_ready(event)

    for _ in range(4):
        threading.Thread(target=for_ever, daemon=True).start()
    while len(seen) < 200:
        time.sleep(0.01)


def main() -> None:
    """Run all parts."""
    event = new_event()
    reports = {
        "held": lock_held_elsewhere(event),
        "slow": slow_behaviour(event),
        "waiting": slow_default(),
        "void": void_function(),
        "forked": forked(event),
    }
    print(json.dumps(reports), flush=True)
    leave_while_calls_go_on(event)


if __name__ == "__main__":
    main()
