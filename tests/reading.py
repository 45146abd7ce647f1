"""Captures in a form for tests: one object per call, its frames outermost first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framedex.captures import read_capture
from framedex.model import Capture, MergeOutcome, NativeFrame, PythonFrame


@dataclass(frozen=True)
class Frame:
    """A frame: `file` is the Python file or the binary; only Python frames have `name` (the qualname) and `line`."""

    file: str
    name: str = ""
    line: int = 0

    @property
    def is_python(self) -> bool:
        """Whether it is a Python frame."""
        return bool(self.name)

    @property
    def place(self) -> list[str | int]:
        """File, line and qualname, as the programs record them."""
        return [self.file, self.line, self.name]


@dataclass(frozen=True)
class Call:
    """One recorded call. `duration` and `error` are -1 if it never returned."""

    function: str
    tid: int
    start: int
    duration: int
    error: int
    arguments: dict[str, Any]
    frames: tuple[Frame, ...]
    outcome: MergeOutcome

    @property
    def python_frames(self) -> list[list[str | int]]:
        """The Python frames among the frames."""
        return [frame.place for frame in self.frames if frame.is_python]


def calls_of(capture: Path | Capture, function: str | None = None) -> list[Call]:
    """The calls of a capture by start time, optionally only those of `function`."""
    read = read_capture(capture) if isinstance(capture, Path) else capture
    frames = [_frame(read, index) for index in range(len(read.frames))]
    stacks = [tuple(frames[index] for index in reversed(stack.frames)) for stack in read.stacks]
    columns = read.calls
    names = [entry.name for entry in read.functions]
    return [
        Call(
            names[columns.function[i]],
            read.threads[columns.thread[i]].tid,
            int(columns.start[i]),
            int(columns.duration[i]),
            int(columns.error[i]),
            json.loads(columns.arguments[i]),
            stacks[columns.stack[i]],
            read.stacks[columns.stack[i]].outcome,
        )
        for i in range(len(columns))
        if function is None or names[columns.function[i]] == function
    ]


def _frame(capture: Capture, index: int) -> Frame:
    frame = capture.frames[index]
    if isinstance(frame, NativeFrame):
        return Frame(capture.modules[frame.module].path if frame.module >= 0 else "")
    assert isinstance(frame, PythonFrame)
    code = capture.codes[frame.code]
    return Frame(code.filename, code.qualname, frame.line)
