"""The native half of framedex: the recorder, the mock TPU, and the decoder of captures.

    import framedex_native

    with framedex_native.recording("captures") as folder:
        ...  # every call into the TPU runtime is recorded into `folder`

The environment says what is recorded, as for programs started otherwise: FRAMEDEX_INCLUDE and FRAMEDEX_EXCLUDE
(patterns of function names, separated by commas), FRAMEDEX_SAMPLE (every Nth call of a thread), FRAMEDEX_LIMIT (bytes
of calls), FRAMEDEX_RING (1: at the limit the oldest calls give way), FRAMEDEX_VERIFY (1: compare every stack with
libgcc's walk). A program with TPU_LIBRARY_PATH set to `library_path()` records itself if FRAMEDEX_RECORD is 1 or
FRAMEDEX_OUT names a folder for captures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    from framedex_native import _native
except ImportError as error:
    raise ImportError(
        f"framedex_native has no compiled part that works here, so nothing can be recorded: {error}"
        " (`framedex doctor` says what works nevertheless)"
    ) from error

__all__ = ["current_capture", "ffi_startup_path", "library_path", "preload_path", "recording", "start", "stop"]


def library_path() -> Path:
    """The mock TPU's `libtpu.so`, for the environment variable `TPU_LIBRARY_PATH`.

    Raises FileNotFoundError when this installation has none.
    """
    return _installed("libtpu.so")


def preload_path() -> Path:
    """The library that, in `LD_PRELOAD`, records the PJRT plug-in which a program loads, wherever it finds it.

    Raises FileNotFoundError when this installation has none.
    """
    return _installed("libframedex_preload.so")


def _installed(name: str) -> Path:
    path = Path(_native.__file__).with_name(name)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: framedex is not installed completely; install it again.")
    return path


def ffi_startup_path() -> Path:
    """The folder that switches FFI tracing on in every Python that has it on its PYTHONPATH.

    Raises FileNotFoundError when this installation has none.
    """
    path = Path(_native.__file__).with_name("ffi") / "startup"
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing: framedex is not installed completely; install it again.")
    return path


@contextmanager
def recording(captures: str | os.PathLike[str]) -> Iterator[Path]:
    """Record within a `with` block, into a new folder below `captures`, which is the block's value.

    Raises RuntimeError as `start` does.
    """
    folder = start(captures)
    try:
        yield folder
    finally:
        stop()


def start(captures: str | os.PathLike[str]) -> Path:
    """Start recording this process into a new folder below `captures` and return that folder.

    Raises RuntimeError when a recording is already running, the folder cannot be written, or a variable is malformed.
    """
    with suppress(OSError):  # where the process may open no more files, what JAX knows is not noted
        from framedex_native.ffi import install_notes

        install_notes()
    return Path(_native.start(os.fsencode(captures)))


def stop() -> Path | None:
    """Stop recording and return the capture's folder, None when nothing was being recorded."""
    folder = _native.stop()
    return Path(folder) if folder else None


def current_capture() -> Path | None:
    """The folder of the capture being written, None when nothing is being recorded."""
    folder = _native.current_capture()
    return Path(folder) if folder else None
