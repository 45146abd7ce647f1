"""Programs in the forms that the runtime accepts: each is parsed completely, or the problem is reported."""

from __future__ import annotations

import json
from dataclasses import asdict

from framedex.programs import read_program
from framedex.programs.bytecode import MAX_LINE
from framedex.programs.locations import MAX_FRAMES
from framedex.programs.signature import MAX_CONSTANTS

MAX_SIZE = 1 << 14


def run(data: bytes) -> None:
    """Parse a program, and check each op."""
    for content in (data, b"ML\xefR" + data):
        program = read_program(content)
        json.dumps([program.function, program.defined])
        if program.signature is not None:
            json.dumps(asdict(program.signature))
            assert len(program.signature.constants) <= MAX_CONSTANTS + 1
        for op, count in program.ops.items():
            assert count > 0 and len(op.frames) <= MAX_FRAMES
            assert all(0 <= frame.line <= MAX_LINE for frame in op.frames)
