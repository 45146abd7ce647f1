"""The current line of a rank: from its process if it is on this machine, otherwise of its last recorded call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.live.model import LiveFrame
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import find_target_of_capture
from framedex.live.waits import Wait, WaitKind, find_innermost_line

if TYPE_CHECKING:
    from framedex.fleet.running.states import RankState
    from framedex.model import Capture

_MAX_BYTES = 64 << 20  # of the streams of a capture
_BATCH = 1 << 16  # calls


def find_current_line(state: RankState) -> tuple[LiveFrame | None, str]:
    """The user's line that the main thread of a rank executes, and the library function that it calls.

    The line is None if the process has ended or is on another machine. The function is empty if the line calls none.
    """
    try:
        snapshot = take_snapshot(find_target_of_capture(state.capture))
    except FramedexError:
        return None, ""
    main = snapshot.threads[0] if snapshot.threads and snapshot.may_continue else None
    if main is None or main.python is None or not main.python.frames:
        return None, ""
    wait = Wait(WaitKind.UNKNOWN, main)
    return wait.line, wait.called_function


def find_last_call_line(capture: Path) -> tuple[LiveFrame | None, str]:
    """The user's line that made the last call of the main thread, and its function; None in a large capture."""
    from framedex.captures import CaptureStream

    try:
        if sum(each.stat().st_size for each in capture.glob("*.fdx")) > _MAX_BYTES:
            return None, ""
        stream = CaptureStream(capture)
        main = {number for number, each in enumerate(stream.capture.threads) if each.tid == stream.capture.metadata.pid}
        last = None
        while len((batch := stream.next(_BATCH)).kind):
            kinds = (batch.kinds[number] for number in reversed(batch.kind.tolist()))
            last = next((kind for kind in kinds if kind.thread in main), last)
    except (OSError, FramedexError):
        return None, ""
    if last is None:
        return None, ""
    return _find_user_line(stream.capture, last.stack), stream.capture.functions[last.function].name


def _find_user_line(capture: Capture, number: int) -> LiveFrame | None:
    from framedex.model import PythonFrame

    stack = capture.stacks[number]
    frames = (capture.frames[each] for each in (*stack.frames, *stack.python))
    python = [
        LiveFrame(capture.codes[each.code].qualname, capture.codes[each.code].filename, each.line)
        for each in frames
        if isinstance(each, PythonFrame)
    ]
    return find_innermost_line(python)
