"""The programs of a capture, as the index is given them."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

from framedex.captures import read_kept_program
from framedex.index.write.records import KeptProgram
from framedex.model import Program
from framedex.programs import read_program


def kept_program(capture: Path, name: str) -> KeptProgram | None:
    """A program that a capture keeps under a name; None where it is not there as it was kept."""
    data = read_kept_program(capture, name)
    if data is None:
        return None
    return KeptProgram(hashlib.sha256(data).hexdigest(), len(data), partial(_read, data))


def _read(data: bytes) -> Program:
    return read_program(data)
