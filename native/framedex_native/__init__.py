"""The native half of framedex: the recorder, the mock TPU, and the capture decoder.

    import framedex_native

    with framedex_native.recording("captures") as folder:
        ...  # every call into the TPU runtime is recorded into `folder`

Environment variables choose what is recorded:

- FRAMEDEX_INCLUDE and FRAMEDEX_EXCLUDE: comma-separated patterns of function names
- FRAMEDEX_SAMPLE: record every Nth call of each thread
- FRAMEDEX_LIMIT: maximum bytes of recorded calls
- FRAMEDEX_RING=1: at the limit, overwrite the oldest calls
- FRAMEDEX_FLIGHT=1: a ring (of 64 MiB without FRAMEDEX_LIMIT) that only counts queries and calls inside the mock
- FRAMEDEX_VERIFY=1: compare every stack with libgcc's unwinder

A program with TPU_LIBRARY_PATH set to `library_path()` records itself if FRAMEDEX_RECORD is 1 or FRAMEDEX_OUT names a
folder for captures.
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
        f"framedex cannot record here: the compiled part of framedex_native does not load: {error}."
        " Run `framedex doctor` to see which features work."
    ) from error

__all__ = [
    "current_capture",
    "ffi_startup_path",
    "library_path",
    "preload_path",
    "recording",
    "replayer_path",
    "start",
    "stop",
]


def library_path() -> Path:
    """The path of the mock TPU's `libtpu.so`, for the environment variable `TPU_LIBRARY_PATH`.

    Raises FileNotFoundError if this installation lacks the library.
    """
    return _installed("libtpu.so")


def preload_path() -> Path:
    """The path of the library that records any PJRT plug-in a program loads. Set it as `LD_PRELOAD`.

    Raises FileNotFoundError if this installation lacks the library.
    """
    return _installed("libframedex_preload.so")


def replayer_path() -> Path:
    """The path of the library that replays captures (native/replay).

    Raises FileNotFoundError if this installation lacks the library.
    """
    return _installed("libframedex_replay.so")


def _installed(name: str) -> Path:
    path = Path(_native.__file__).with_name(name)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: the framedex installation is incomplete. Reinstall framedex.")
    return path


def ffi_startup_path() -> Path:
    """The folder that enables FFI tracing in every Python that has the folder on its PYTHONPATH.

    Raises FileNotFoundError if this installation lacks the folder.
    """
    path = Path(_native.__file__).with_name("ffi") / "startup"
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing: the framedex installation is incomplete. Reinstall framedex.")
    return path


@contextmanager
def recording(captures: str | os.PathLike[str]) -> Iterator[Path]:
    """Record during a `with` block into a new folder below `captures`, and yield that folder.

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
    with suppress(OSError):  # without a free file descriptor, record without JAX's notes
        from framedex_native.ffi import install_notes

        install_notes()
    return Path(_native.start(os.fsencode(captures)))


def stop() -> Path | None:
    """Stop recording and return the capture's folder, or None if no recording was running."""
    folder = _native.stop()
    return Path(folder) if folder else None


def current_capture() -> Path | None:
    """The folder of the capture being written, or None if no recording is running."""
    folder = _native.current_capture()
    return Path(folder) if folder else None
