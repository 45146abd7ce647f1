"""The smallest real capture, of a program that stopped its own recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import framedex_native
from framedex.captures import capture_folders
from tests.once import made_once
from tests.running import PROGRAMS, TIMEOUT, plain_environment


def recorded_put() -> Path:
    """The capture of `tests/programs/one_put.py`, shared by all tests: copy it to change it."""
    return made_once("one_put", _record)


def _record(folder: Path) -> Path:
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "one_put.py"), str(folder / "captures")],
        env=plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    (capture,) = capture_folders(folder / "captures")
    return capture
