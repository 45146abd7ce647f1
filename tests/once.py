"""What many tests look at and none changes: made once in a run of pytest, by the first of its workers that asks."""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")
VARIABLE = "FRAMEDEX_TESTS_SHARE"
"""Names the folder to pytest's workers; what they start is not told (`running.plain_environment`)."""


def made_once(name: str, make: Callable[[Path], Made]) -> Made:
    """What `make` returned for the folder of this name, which it fills; pickled where another worker made it."""
    folder = shared_folder() / name
    result = folder.with_name(f"{name}.pickle")
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if result.exists():
            found: Made = pickle.loads(result.read_bytes())
            return found
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        made = make(folder)
        result.write_bytes(pickle.dumps(made))
        return made


@functools.cache
def shared_folder() -> Path:
    """The folder of this run of pytest, or of this process where it is another program. It is removed at the end."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="framedex-tests-")
        atexit.register(shutil.rmtree, os.environ[VARIABLE], ignore_errors=True)
    return Path(os.environ[VARIABLE]).resolve()
