"""Read the ops of a program in any supported format."""

from __future__ import annotations

from framedex.model.programs import Program
from framedex.programs.bytecode import read_bytecode
from framedex.programs.tables import MAGIC


def read_program(data: bytes) -> Program:
    """Return the ops of a program with their lines. Never raises: errors are in its `problem`."""
    if data.startswith(MAGIC):
        return read_bytecode(data)
    return Program(problem="it is in a format that framedex does not read")
