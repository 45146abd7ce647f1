"""Data shared by many tests that no test changes: created once per pytest run, by the first worker that needs it."""

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
"""Passes the folder to pytest's workers; their child processes do not get it (`running.plain_environment`)."""


def made_once(name: str, make: Callable[[Path], Made]) -> Made:
    """The result of `make` for the folder of this name, which it fills; pickled if another worker created it."""
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
    """The folder of this pytest run, or of this process in another program. It is removed at the end."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="framedex-tests-")
        atexit.register(shutil.rmtree, os.environ[VARIABLE], ignore_errors=True)
    return Path(os.environ[VARIABLE]).resolve()
