"""The stack of a recorded process at its fatal signal. The recorder writes it into the capture."""

from __future__ import annotations

import re
from pathlib import Path

from framedex.base.regularfile import read_regular_text
from framedex.live.model import LiveFrame

CRASH_FILE = "crash.txt"
_PYTHON_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


def read_crash(capture: Path) -> tuple[str, tuple[LiveFrame, ...]]:
    """The path of the file with the stack and memory map, empty if there is none, and its Python frames."""
    file = capture / CRASH_FILE
    try:
        text = read_regular_text(file)
    except (OSError, ValueError):
        return "", ()
    frames = tuple(LiveFrame(name, path, int(line)) for path, line, name in _PYTHON_FRAME.findall(text))
    return str(file), frames
