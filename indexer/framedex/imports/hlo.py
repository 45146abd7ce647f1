"""Reads the ops of the HLO module in a profile (XLA, hlo.proto): the frames that traced them, the lines of fusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from framedex.base.protobuf import Message
from framedex.imports.names import build_imported_frame
from framedex.model import ImportedFrame
from framedex.model.programs import compute_share_by_line
from framedex.programs.hlo import Instruction, Module

_MODULE = 1  # of HloProto
_COMPUTATIONS = 3  # of the module
_FILE, _LINE, _STACK_FRAME = 3, 4, 15  # of an op's metadata
_MAX_LINES = 5  # named lines of a fusion


@dataclass(frozen=True, slots=True)
class TracedOp:
    """An op: its Python frames from tracing, innermost first, and the lines of a fusion with their shares of its ops.

    `lines` looks like `60% model.py:7, 40% model.py:9`; empty if all ops have one line.
    """

    frames: list[ImportedFrame]
    lines: str = ""


def read_traced_ops(proto: bytes) -> Iterator[tuple[str, TracedOp]]:
    """Yield the ops by name. Ops without frames are left out."""
    content = Message(proto).content(_MODULE)
    module = Module(content)
    for computation in map(Message, Message(content).contents(_COMPUTATIONS)):
        for op in map(Message, computation.contents(2)):
            metadata = Message(op.content(7))
            stack = module.frames.stack(metadata.integer(_STACK_FRAME))
            found = [build_imported_frame(frame.function, frame.path, frame.line) for frame in stack]
            if not found and metadata.text(_FILE):
                found = [
                    build_imported_frame(metadata.text(2) or op.text(1), metadata.text(_FILE), metadata.integer(_LINE))
                ]
            if found:
                yield op.text(1), TracedOp(found, _format_lines(module, Instruction.from_message(op)))


def _format_lines(module: Module, instruction: Instruction) -> str:
    shares = compute_share_by_line(Counter(line for _, line in module.fused_ops(instruction)))
    if len(shares) < 2:
        return ""
    texts = [f"{share:.0%} {line.path.rpartition('/')[2]}:{line.line}" for line, share in shares]
    hidden = len(texts) - _MAX_LINES
    return ", ".join(texts[:_MAX_LINES] + ([f"{hidden} more"] if hidden > 0 else []))
