"""The programs of a capture, as the index is given them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, replace
from functools import partial

from framedex.captures import read_kept_program
from framedex.index.write.records import KeptProgram
from framedex.ingest.paths import Paths
from framedex.model import Capture, Program, ProgramFrame, ProgramOp
from framedex.programs import read_note, read_options, read_program


class KeptPrograms:
    """What a capture keeps beside its calls, by the names that these have for it; None for what is not there as it was.

    The face is that of a shared capture's stream.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def program(self, name: str) -> KeptProgram | None:
        """A program."""
        data = read_kept_program(self._capture.path, name)
        if data is None:
            return None
        return KeptProgram(hashlib.sha256(data).hexdigest(), len(data), partial(_read, data, Paths.of(self._capture)))

    def options(self, name: str) -> str | None:
        """The options of a compilation, as JSON by their names."""
        data = read_kept_program(self._capture.path, name)
        return None if data is None else json.dumps(read_options(data))

    def note(self, name: str) -> str | None:
        """What JAX knew of a program, as JSON."""
        data = read_kept_program(self._capture.path, name)
        noted = None if data is None else read_note(data)
        return None if noted is None else json.dumps(asdict(noted))


def _read(data: bytes, paths: Paths) -> Program:
    """A program with the real paths of its files; lines of what is no file (`<stdin>`) are left out."""
    program = read_program(data)
    ops: Counter[ProgramOp] = Counter()
    for op, count in program.ops.items():
        located = ((paths.real(frame.path), frame) for frame in op.frames if frame.line > 0)
        frames = tuple(ProgramFrame(path, frame.line, frame.function) for path, frame in located if path is not None)
        ops[ProgramOp(op.kind, op.name, frames)] += count
    return replace(program, ops=ops)
