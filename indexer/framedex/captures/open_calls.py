"""Calls in progress of a recorded process, read from its capture: no index, no signal, no ptrace.

The process may be running, hung or ended. Its capture is read as it is now.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from framedex.base.nativepart import _native
from framedex.base.words import signal_name
from framedex.captures.metadata import read_metadata
from framedex.captures.state import convert_read_errors


@dataclass(frozen=True, slots=True)
class OpenFrame:
    """A frame of an open call.

    Python frames have `file` and `line` (0 if unknown). Native frames have `module`, the path of the binary (empty if
    unknown), and `offset`, the return address relative to its load address; their `name` is empty.
    """

    language: Literal["python", "native"]
    name: str
    file: str = ""
    line: int = 0
    module: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that has not returned: `sequence` numbers the calls of its thread, `since_ns` is on CLOCK_MONOTONIC.

    `frames` is its stack, innermost first: the merged stack, or its Python frames if they could not be merged. `object`
    is the address of the event that a pending callback is about, else 0.
    """

    function: str
    sequence: int
    since_ns: int
    frames: tuple[OpenFrame, ...]
    object: int = 0


@dataclass(frozen=True, slots=True)
class ThreadCalls:
    """A thread with its open calls, outermost first.

    `calls` is its number of calls so far. `last_record_ns` is the time of its last call or return on CLOCK_MONOTONIC,
    None if there is none. `pending` are calls of `PJRT_Event_OnReady` that have returned, and whose callbacks the
    runtime has not invoked: their events have not fired. `signal` is the name of the latest signal on this thread that
    usually ends the process, such as `SIGSEGV`; None without one.
    """

    thread_id: int
    name: str
    calls: int
    last_record_ns: int | None
    open_calls: tuple[OpenCall, ...]
    pending: tuple[OpenCall, ...] = ()
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class CallbackInvocation:
    """The invocation of a callback by the runtime, at `time_ns` on CLOCK_MONOTONIC.

    Threads are the numbers N of their streams. Call `registered_sequence` of `registered_thread` registered it.
    `error` is the PJRT error code that the callback received, 0 if none.
    """

    thread: int
    time_ns: int
    registered_thread: int
    registered_sequence: int
    error: int


def read_open_calls(folder: Path) -> list[ThreadCalls]:
    """The threads of the capture in `folder`, in the order of their first calls, with the calls that have not returned.

    Raises FramedexError if the folder is not a capture, its version is unsupported, or the system fails to read a file.
    """
    read_metadata(folder)
    with convert_read_errors():
        threads = _native.read_open_calls(os.fsencode(folder))
    return [
        ThreadCalls(
            thread_id,
            name,
            calls,
            last if calls else None,
            _build_calls(open_calls),
            _build_calls(pending),
            signal_name(signal) if signal else None,
        )
        for thread_id, name, calls, last, open_calls, pending, signal in threads
    ]


def _build_calls(calls: tuple[_native.OpenCall, ...]) -> tuple[OpenCall, ...]:
    return tuple(
        OpenCall(function, sequence, since, tuple(OpenFrame(*frame) for frame in frames), address)
        for function, sequence, since, frames, address in calls
    )


def read_invocations(folder: Path) -> list[CallbackInvocation]:
    """The invocations of callbacks in the capture in `folder`, thread by thread. Raises like `read_open_calls`."""
    read_metadata(folder)
    with convert_read_errors():
        return [CallbackInvocation(*each) for each in _native.read_invocations(os.fsencode(folder))]
