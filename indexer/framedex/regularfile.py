"""Open only regular files: a capture or a log may contain a pipe instead of a file, which would block forever."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

from framedex.portable import NEVER_WAITING, READ_ONLY
from framedex.systemlimits import raise_if_limit

LARGEST_FILE = 16 << 20
"""The most bytes to read of a file: a larger source file is generated data, and no other file grows so large."""


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read bytes, without ever blocking.

    Raises OSError if it is not a regular file, and SystemLimitError if the system is out of descriptors or memory.
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
    """The content of a file.

    Raises like `open_regular`, and OSError for a file of more than `largest` bytes. System files report a size of 0,
    and some are endless.
    """
    with open_regular(path) as file:
        size = min(os.fstat(file.fileno()).st_size, largest)
        content = file.read(size + 1)  # read() allocates all that it is asked for
        if len(content) > size:
            content += file.read(largest - size)
    if len(content) > largest:
        raise OSError(errno.EINVAL, f"it has more than {largest:,} bytes", os.fspath(path))
    return content


def read_regular_text(path: Path) -> str:
    r"""The content of a file as UTF-8 text, with line breaks normalised to `\n`. Raises like `read_regular`."""
    with io.TextIOWrapper(io.BytesIO(read_regular(path)), "utf-8", "replace") as file:
        return file.read()
