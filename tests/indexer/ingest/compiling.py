"""A recording of `tests/programs/compiling.py`, shared by the tests that read it."""

from __future__ import annotations

import sys

from tests.once import made_once
from tests.running import Run, run


def recorded_compiling(python: str = sys.executable) -> Run:
    """Record the program under an interpreter; JAX passes the runtime the lines that run programs."""
    name = python.strip("/").replace("/", "-")
    return made_once(
        f"compiling-{name}",
        lambda folder: run("compiling.py", folder=folder, python=python, JAX_SEND_TRACEBACK_TO_RUNTIME="on"),
    )
