"""The ids of frames and stacks: hashes of their content, equal on all hosts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from framedex.model import NativeFrame, PythonFrame

if TYPE_CHECKING:
    from framedex.model import Capture, Stack

_LENGTH = 32  # hexadecimal digits: 128 bits are safe from accidental and deliberate collisions


def hash_values(*parts: object) -> str:
    """Return the hash of a list of JSON values."""
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:_LENGTH]


def compute_frame_ids(capture: Capture) -> list[str]:
    """Return the id of each recorded frame of a capture.

    A native frame is an offset in a binary, which is identified by its content, not its path. A Python frame is an
    instruction of a code object. All addresses outside binaries share one id, since they differ between processes.
    """
    return [_compute_frame_id(capture, frame) for frame in capture.frames]


def _compute_frame_id(capture: Capture, frame: object) -> str:
    if isinstance(frame, PythonFrame):
        code = capture.codes[frame.code]
        where = (code.filename, code.qualname, code.first_line)
        return hash_values("python", *where, frame.instruction, frame.line, frame.is_returning)
    assert isinstance(frame, NativeFrame)
    if frame.module < 0:
        return hash_values("outside")
    module = capture.modules[frame.module]
    build_id, fingerprint = module.build_id or "", module.fingerprint
    path = "" if build_id or fingerprint else module.path
    return hash_values("native", build_id, fingerprint, path, frame.offset)


def compute_stack_id(stack: Stack, frames: Sequence[str], python: Sequence[str]) -> str:
    """Return the id of a stack. `frames` and `python` are frame ids, outermost first."""
    return hash_values("stack", list(frames), list(python), stack.outcome.value, stack.is_truncated)
