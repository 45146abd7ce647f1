"""Opens regular files alone: a capture or a log may have the name of a pipe read, to which nobody ever writes."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

from framedex.portable import NEVER_WAITING, READ_ONLY
from framedex.systemlimits import raise_if_limit

LARGEST_FILE = 16 << 20
"""Bytes of a file that is read whole: a larger source file is generated data, and no other file grows so large."""


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read bytes, without ever waiting.

    Raises OSError for anything but a regular file, and SystemLimitError where the system has no descriptor or memory
    left.
    """
    try:
        descriptor = os.open(path, READ_ONLY | NEVER_WAITING)
    except OSError as error:
        raise_if_limit(error)
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Return the content of a file.

    Raises as `open_regular` does, and OSError for a file of more than `largest` bytes. Files of the system report a
    size of 0, and some have no end.
    """
    with open_regular(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EINVAL, f"it has more than {largest:,} bytes", os.fspath(path))
    return content


def read_regular_text(path: Path) -> str:
    """The content of a file as text, with line breaks as Python has them. Raises as `read_regular` does."""
    with io.TextIOWrapper(io.BytesIO(read_regular(path)), "utf-8", "replace") as file:
        return file.read()
