"""Convert the kept programs of a capture for the index."""

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
    """The files kept beside a capture's calls, by their names in the calls; None if missing or changed.

    It has the same methods as a shared capture's stream.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def program(self, name: str) -> KeptProgram | None:
        """Return a program."""
        data = read_kept_program(self._capture.path, name)
        if data is None:
            return None
        return KeptProgram(hashlib.sha256(data).hexdigest(), len(data), partial(_read, data, Paths.of(self._capture)))

    def options(self, name: str) -> str | None:
        """Return the options of a compilation by their names, as JSON."""
        data = read_kept_program(self._capture.path, name)
        return None if data is None else json.dumps(read_options(data))

    def note(self, name: str) -> str | None:
        """Return JAX's note on a program, as JSON."""
        data = read_kept_program(self._capture.path, name)
        noted = None if data is None else read_note(data)
        return None if noted is None else json.dumps(asdict(noted))


def _read(data: bytes, paths: Paths) -> Program:
    """Return a program with the real paths of its files, without lines of other sources (`<stdin>`)."""
    program = read_program(data)
    ops: Counter[ProgramOp] = Counter()
    for op, count in program.ops.items():
        located = ((paths.real(frame.path), frame) for frame in op.frames if frame.line > 0)
        frames = tuple(ProgramFrame(path, frame.line, frame.function) for path, frame in located if path is not None)
        ops[ProgramOp(op.kind, op.name, frames)] += count
    return replace(program, ops=ops)
