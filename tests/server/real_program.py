"""A small JAX program, recorded and indexed once for all read-only tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.once import made_once
from tests.running import TIMEOUT, Run, mock_environment

FRAMEDEX = (sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')")

PROGRAM = """\
import jax
import numpy as np


def put_on_device(array):
    return jax.device_put(array)


np.asarray(put_on_device(np.zeros((2, 3), np.float32)))
jax.jit(lambda x: x + 1)(np.zeros(3, np.float32))
"""
PUT, CALL, COMPILE = 6, 9, 10
"""Lines of the program: a transfer, its call, and a compilation."""


def recorded_program() -> Path:
    """The program. Its index is in `.framedex` beside it, its capture in `captures`."""
    return made_once("real_program", _record)


def _record(folder: Path) -> Path:
    program = folder.resolve() / "program.py"
    program.write_text(PROGRAM)
    ended = Run.of([sys.executable, str(program)], program.parent, mock_environment(program.parent), TIMEOUT)
    assert ended.status == 0, ended.stderr
    framedex("index", "captures", folder=program.parent)
    return program


def framedex(*arguments: str, folder: Path) -> None:
    """Run a verb of the command line in a folder."""
    done = subprocess.run([*FRAMEDEX, *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
