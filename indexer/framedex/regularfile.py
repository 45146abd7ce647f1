"""Opens regular files alone: a capture or a log may have the name of a pipe read, to which nobody ever writes."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

from framedex.portable import NEVER_WAITING, READ_ONLY


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read bytes, without ever waiting. Raises OSError for what is no regular file."""
    descriptor = os.open(path, READ_ONLY | NEVER_WAITING)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path) -> bytes:
    """The content of a file. Raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def read_regular_text(path: Path) -> str:
    """The content of a file as text, with line breaks as Python has them. Raises OSError as `open_regular` does."""
    with io.TextIOWrapper(open_regular(path), "utf-8", "replace") as file:
        return file.read()
