"""Data stored with a program: compile options are strings by name, and a note is parsed completely or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict

from framedex.programs import read_note, read_options

MAX_SIZE = 1 << 12


def run(data: bytes) -> None:
    """Parse options and a note."""
    for name, value in read_options(data).items():
        assert isinstance(name, str) and isinstance(value, str) and len(value) <= 200
    noted = read_note(data)
    if noted is not None:
        json.dumps(asdict(noted))
