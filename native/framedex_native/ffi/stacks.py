"""Python stacks as they are written down: `[file, line, function]` per frame, innermost first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import FrameType

Frame = tuple[str, int, str]
# A description has to fit into one record of a capture; what is left out of a deeper stack is at its outer end.
MAXIMUM_FRAMES = 500
_FRAMES_IN_LINE = 3


def frames_from(frame: FrameType | None) -> tuple[Frame, ...]:
    """The stack from `frame` outwards. The whole of it: JAX's own tracebacks end where a trace begins."""
    frames: list[Frame] = []
    while frame is not None and len(frames) < MAXIMUM_FRAMES:
        code = frame.f_code
        frames.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_qualname))
        frame = frame.f_back
    return tuple(frames)


class UserFrames:
    """Tells the frames of a program from those of JAX."""

    def __init__(self, *packages: str) -> None:
        """`packages` are the folders of JAX's own packages."""
        self._prefixes = tuple(f"{Path(package)}/" for package in packages)

    def first(self, frames: Sequence[Frame]) -> int:
        """The index of the innermost frame that is not of JAX; 0 if all are."""
        return next((index for index, frame in enumerate(frames) if self._is_of_user(frame)), 0)

    def line(self, frames: Sequence[Frame]) -> str:
        """Where a stack is in the program: `layers.py:7 in norm, from train.py:12 in step`."""
        own = [f"{file}:{line} in {name}" for file, line, name in frames if self._is_of_user((file, line, name))]
        return ", from ".join(own[:_FRAMES_IN_LINE])

    def _is_of_user(self, frame: Frame) -> bool:
        return not frame[0].startswith((*self._prefixes, "<"))
