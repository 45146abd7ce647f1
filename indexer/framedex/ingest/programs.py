"""The programs of a capture, as the index is given them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, replace
from functools import partial

from framedex.captures import read_kept_program
from framedex.index.write.records import KeptProgram
from framedex.ingest.naming import Paths
from framedex.model import Capture, Program, ProgramFrame, ProgramOp
from framedex.programs import read_note, read_options, read_program


def kept_program(capture: Capture, name: str) -> KeptProgram | None:
    """A program that a capture keeps under a name; None where it is not there as it was kept."""
    data = read_kept_program(capture.path, name)
    if data is None:
        return None
    return KeptProgram(hashlib.sha256(data).hexdigest(), len(data), partial(_read, data, Paths.of(capture)))


def kept_options(capture: Capture, name: str) -> str | None:
    """The options that a capture keeps under a name, as JSON by their names; None where they are not there."""
    data = read_kept_program(capture.path, name)
    return None if data is None else json.dumps(read_options(data))


def kept_note(capture: Capture, name: str) -> str | None:
    """What a capture keeps under a name of what JAX knew of a program, as JSON; None where it is not there."""
    data = read_kept_program(capture.path, name)
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
