"""The program's position while a behaviour runs: the Python frames of the calling thread."""

from __future__ import annotations

import sys
import sysconfig
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_ENTRY = "dispatch"  # the function of this package that the layer calls
_HERE = str(Path(__file__).parent)
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the program. `number` counts from 1; `text` is empty if the file cannot be read."""

    file: str
    number: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


def is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to this package."""
    return frame.f_code.co_filename.startswith(_HERE)


def stack_below(frame: FrameType | None) -> list[traceback.FrameSummary]:
    """The Python frames from `frame` outwards, innermost last, without frames of behaviours."""
    every = traceback.StackSummary.extract(traceback.walk_stack(frame))
    return [each for each in reversed(every) if not each.filename.startswith(_HERE)]


def line_below(frame: FrameType | None) -> Line | None:
    """The innermost line outside of Python and installed packages; None on a thread without one."""
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith((_HERE, "<frozen", *_INSTALLED)) and "site-packages" not in path:
            found = traceback.extract_stack(frame, limit=1)[0]
            return Line(path, frame.f_lineno, frame.f_code.co_name, found.line or "")
        frame = frame.f_back
    return None


def program_frame(thread: int) -> FrameType | None:
    """The program's innermost frame on a thread, outside of all running behaviours.

    The thread must be the current one, or wait for it. Returns None if the thread has no Python frames.
    """
    frame = sys._current_frames().get(thread) if thread != threading.get_ident() else sys._getframe(1)
    found = frame
    while frame is not None:
        if is_ours(frame) and frame.f_code.co_name == _ENTRY:
            found = frame.f_back
        frame = frame.f_back
    return found
