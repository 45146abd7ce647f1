"""Recordings of programs on the mock TPU for several tests below this folder."""

from __future__ import annotations

from tests.once import made_once
from tests.running import Run, run


def recorded(program: str, *arguments: str) -> Run:
    """A recorded run of `tests/programs/PROGRAM ARGUMENTS...`. Tests share its captures: copy them before a change."""
    return made_once(" ".join(["native", program, *arguments]), lambda folder: run(program, *arguments, folder=folder))
