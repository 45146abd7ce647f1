"""What a program says of its lines, whatever format it came in."""

from __future__ import annotations

from framedex.model.programs import Program
from framedex.programs.bytecode import read_bytecode
from framedex.programs.tables import MAGIC


def read_program(data: bytes) -> Program:
    """What a program says of its lines. Raises nothing: what could not be read is its `problem`."""
    if data.startswith(MAGIC):
        return read_bytecode(data)
    return Program(problem="it is in a format that framedex does not read")
