"""Reads the traced frames of ops from the HLO module in a profile (XLA, hlo.proto)."""

from __future__ import annotations

from collections.abc import Iterator

from framedex.base.protobuf import Message
from framedex.imports.names import build_imported_frame
from framedex.model import ImportedFrame
from framedex.programs.hlo import StackFrames

_MODULE = 1  # of HloProto
_COMPUTATIONS = 3  # of the module
_FILE, _LINE, _STACK_FRAME = 3, 4, 15  # of an op's metadata


def op_frames(proto: bytes) -> Iterator[tuple[str, list[ImportedFrame]]]:
    """The ops by name, with the frames that traced them, innermost first. Ops without frames are left out."""
    module = Message(Message(proto).content(_MODULE))
    frames = StackFrames(module)
    for computation in map(Message, module.contents(_COMPUTATIONS)):
        for op in map(Message, computation.contents(2)):
            metadata = Message(op.content(7))
            stack = frames.stack(metadata.integer(_STACK_FRAME))
            found = [build_imported_frame(frame.function, frame.path, frame.line) for frame in stack]
            if not found and metadata.text(_FILE):
                found = [
                    build_imported_frame(metadata.text(2) or op.text(1), metadata.text(_FILE), metadata.integer(_LINE))
                ]
            if found:
                yield op.text(1), found
