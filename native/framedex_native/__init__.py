"""The native half of framedex: the recorder, the mock TPU, and the decoder of captures.

    import framedex_native

    framedex_native.start("captures")   # from here on, every call into the TPU runtime is recorded
    ...
    folder = framedex_native.stop()
"""

from __future__ import annotations

import os
from pathlib import Path

from framedex_native import _native

__all__ = ["current_capture", "library_path", "start", "stop"]


def library_path() -> Path:
    """The mock TPU's `libtpu.so`, for the environment variable `TPU_LIBRARY_PATH`.

    Raises FileNotFoundError when this installation has none.
    """
    path = Path(_native.__file__).with_name("libtpu.so")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: framedex is not installed completely; install it again.")
    return path


def start(captures: str | os.PathLike[str]) -> Path:
    """Start recording this process into a new folder below `captures` and return that folder.

    Raises RuntimeError when a recording is already running or the folder cannot be written.
    """
    return Path(_native.start(os.fspath(captures)))


def stop() -> Path | None:
    """Stop recording and return the capture's folder, None when nothing was being recorded."""
    folder = _native.stop()
    return Path(folder) if folder else None


def current_capture() -> Path | None:
    """The folder of the capture being written, None when nothing is being recorded."""
    folder = _native.current_capture()
    return Path(folder) if folder else None
