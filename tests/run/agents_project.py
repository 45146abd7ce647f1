"""The project for agent tests: a program with costs and failures, recorded and indexed as users do it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.once import made_once
from tests.run.invoking import FRAMEDEX, framedex_run
from tests.running import PROGRAMS, plain_environment

SOURCE = PROGRAMS / "training_with_faults.py"


def line_of(text: str) -> int:
    """The number of the program's first line with the text."""
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def recorded_project() -> Path:
    """The folder with `train.py`, its capture and its index."""
    return made_once("agents-project", _record)


def _record(folder: Path) -> Path:
    shutil.copy(SOURCE, folder / "train.py")
    ran = framedex_run("train.py", folder=folder)
    assert ran.status == 0, ran.stderr
    subprocess.run([FRAMEDEX, "index"], cwd=folder, check=True, capture_output=True, env=plain_environment())
    return folder
