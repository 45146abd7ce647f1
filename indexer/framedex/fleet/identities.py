"""The ids of frames and stacks: hashes of what they are, the same on whatever host they were recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from framedex.model import NativeFrame, PythonFrame

if TYPE_CHECKING:
    from framedex.model import Capture, Stack

_LENGTH = 32  # hexadecimal digits: that no two things meet in 128 bits is sure enough, by chance and on purpose


def id_of(*parts: object) -> str:
    """The id of what is told by these values of JSON, in their order."""
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:_LENGTH]


def frame_ids(capture: Capture) -> list[str]:
    """The id of each recorded frame of a capture.

    A native frame is an offset in a binary, which is known by its content wherever it lies; a Python frame is an
    instruction of a code object. Addresses outside every binary mean nothing elsewhere: these are one frame.
    """
    return [_frame_id(capture, frame) for frame in capture.frames]


def _frame_id(capture: Capture, frame: object) -> str:
    if isinstance(frame, PythonFrame):
        code = capture.codes[frame.code]
        where = (code.filename, code.qualname, code.first_line)
        return id_of("python", *where, frame.instruction, frame.line, frame.is_returning)
    assert isinstance(frame, NativeFrame)
    if frame.module < 0:
        return id_of("outside")
    module = capture.modules[frame.module]
    build_id, fingerprint = module.build_id or "", module.fingerprint
    path = "" if build_id or fingerprint else module.path
    return id_of("native", build_id, fingerprint, path, frame.offset)


def stack_id(stack: Stack, frames: Sequence[str], python: Sequence[str]) -> str:
    """The id of a stack, whose frames are given by their ids, outermost first."""
    return id_of("stack", list(frames), list(python), stack.outcome.value, stack.is_truncated)
