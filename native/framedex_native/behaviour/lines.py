"""Where the program stands while a behaviour runs: its Python frames on the thread that made the call."""

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
    """A line of the program: `file`, `number` from 1, the `function` it is in, and its `text` if it can be read."""

    file: str
    number: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"


def is_ours(frame: FrameType) -> bool:
    """Whether a frame is of this package."""
    return frame.f_code.co_filename.startswith(_HERE)


def stack_below(frame: FrameType | None) -> list[traceback.FrameSummary]:
    """The Python frames from `frame` outwards, the innermost last, without those of behaviours."""
    every = traceback.StackSummary.extract(traceback.walk_stack(frame))
    return [each for each in reversed(every) if not each.filename.startswith(_HERE)]


def line_below(frame: FrameType | None) -> Line | None:
    """The innermost line that is neither of an installed package nor of Python; None on a thread without one."""
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith((_HERE, "<frozen", *_INSTALLED)) and "site-packages" not in path:
            found = traceback.extract_stack(frame, limit=1)[0]
            return Line(path, frame.f_lineno, frame.f_code.co_name, found.line or "")
        frame = frame.f_back
    return None


def program_frame(thread: int) -> FrameType | None:
    """The program's innermost frame on a thread: outside of all behaviours that are under way on it.

    The thread is this one, or waits for what this one does; None where it has no Python.
    """
    frame = sys._current_frames().get(thread) if thread != threading.get_ident() else sys._getframe(1)
    found = frame
    while frame is not None:
        if is_ours(frame) and frame.f_code.co_name == _ENTRY:
            found = frame.f_back
        frame = frame.f_back
    return found
