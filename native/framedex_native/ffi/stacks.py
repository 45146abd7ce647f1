"""Python stacks in the recorded form: `[file, line, function]` for each frame, innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import FrameType

Frame = tuple[str, int, str]
# A description must fit into one record of a capture, so deeper stacks lose their outermost frames.
MAXIMUM_FRAMES = 500
_FRAMES_IN_LINE = 3


def frames_from(frame: FrameType | None) -> tuple[Frame, ...]:
    """The whole stack from `frame` outwards. JAX's own tracebacks end where a trace begins."""
    frames: list[Frame] = []
    while frame is not None and len(frames) < MAXIMUM_FRAMES:
        code = frame.f_code
        frames.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_qualname))
        frame = frame.f_back
    return tuple(frames)


class UserFrames:
    """Distinguishes the program's frames from JAX's."""

    def __init__(self, *packages: str) -> None:
        """Set the folders of JAX's own packages."""
        self._prefixes = tuple(f"{Path(package)}/" for package in packages)

    def first(self, frames: Sequence[Frame]) -> int:
        """The index of the innermost frame outside JAX; 0 if there is none."""
        return next((index for index, frame in enumerate(frames) if self.has(frame)), 0)

    def line(self, frames: Sequence[Frame]) -> str:
        """The program's lines in a stack: `layers.py:7 in norm, from train.py:12 in step`."""
        own = [f"{file}:{line} in {name}" for file, line, name in frames if self.has((file, line, name))]
        return ", from ".join(own[:_FRAMES_IN_LINE])

    def has(self, frame: Frame) -> bool:
        """Whether a frame is the program's."""
        return not frame[0].startswith((*self._prefixes, "<"))
