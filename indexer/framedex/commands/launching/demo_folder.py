"""The folder of `framedex demo`: created with the shipped files or reused, never taken from other content."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import framedex
from framedex.commands.output.whole_files import write_whole
from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.regularfile import open_regular

PROGRAM = "device_put.py"
"""The demo's program, in its folder."""

# The program is written last: a folder that has it is complete.
_FILES = ("framedex.toml", PROGRAM)
_SHIPPED = Path(framedex.__file__).with_name("demo")
_OTHER_FOLDER = "Name another folder: `framedex demo --folder DIR`"


def prepare(folder: Path) -> None:
    """Create the demo's folder, or reuse an empty one or one of an earlier demo.

    Raises FramedexError, and leaves the folder unchanged, if it has other content or cannot be written.
    """
    is_new = not os.path.lexists(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _held(folder):
            _fill(folder)
    except BaseException as error:
        if is_new:
            with suppress(OSError):  # the folder is missing, or another demo has filled it
                folder.rmdir()
        if not isinstance(error, OSError):
            raise
        reason = error.strerror or error
        raise FramedexError(f"{printable(os.fspath(folder))} cannot be made: {reason}.", _OTHER_FOLDER) from None


def _fill(folder: Path) -> None:
    if _is_as_shipped(folder, PROGRAM):
        return
    names = sorted(path.name for path in folder.iterdir())
    strange = [name for name in names if not _is_as_shipped(folder, name)]
    if PROGRAM in strange:
        raise FramedexError(
            f"{printable(os.fspath(folder / PROGRAM))} is not the demo's program, or has changed. It is left alone.",
            f"Record it in its folder: `framedex run {PROGRAM}`\n{_OTHER_FOLDER}",
        )
    if strange:
        raise FramedexError(
            f"{printable(os.fspath(folder))} is not the demo's: it holds {printable(strange[0])}. It is left alone.",
            _OTHER_FOLDER,
        )
    for name in _FILES:
        try:
            write_whole(folder / name, (_SHIPPED / name).read_text())
        except FramedexError as error:
            raise FramedexError(error.message, _OTHER_FOLDER) from None


def _is_as_shipped(folder: Path, name: str) -> bool:
    """Whether a file of the folder is one of the demo's, with unchanged content."""
    if name not in _FILES:
        return False
    shipped = (_SHIPPED / name).read_bytes()
    try:
        with open_regular(folder / name) as file:
            return file.read(len(shipped) + 1) == shipped
    except OSError:
        return False


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock the folder while it is filled: another demo would take a half-filled folder for foreign content."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
