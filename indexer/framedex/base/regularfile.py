"""Open only regular files: a capture or a log may contain a pipe instead of a file, which would block forever.

Also replaces the Linux features that reading an index needs on other systems.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from functools import cache
from pathlib import Path

from framedex.base.errors import raise_if_limit

MAX_FILE_BYTES = 16 << 20
"""The maximum number of bytes to read: larger source files are generated data, and no other file is as large."""


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read bytes, without ever blocking.

    Raises OSError if it is not a regular file, and SystemLimitError if the system is out of descriptors or memory.
    """
    try:
        descriptor = os.open(path, READ_ONLY | NONBLOCKING)
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


def read_regular(path: Path, largest: int = MAX_FILE_BYTES) -> bytes:
    """The content of a file.

    Raises like `open_regular`, and OSError for a file of more than `largest` bytes. System files report a size of 0,
    and some are endless.
    """
    with open_regular(path) as file:
        size = min(os.fstat(file.fileno()).st_size, largest)
        content = file.read(size + 1)  # read() allocates the requested size
        if len(content) > size:
            content += file.read(largest - size)
    if len(content) > largest:
        raise OSError(errno.EINVAL, f"it has more than {largest:,} bytes", os.fspath(path))
    return content


def read_regular_text(path: Path) -> str:
    r"""The content of a file as UTF-8 text, with line breaks normalised to `\n`. Raises like `read_regular`."""
    return decode_text(read_regular(path))


def decode_text(content: bytes) -> str:
    r"""UTF-8 text, with line breaks normalised to `\n`."""
    with io.TextIOWrapper(io.BytesIO(content), "utf-8", "replace") as file:
        return file.read()


# Systems without such a flag do not need it to open a file. O_BINARY exists only on Windows.
READ_ONLY = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""The flags to open a file for reading bytes."""

NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""The flags to open a pipe or a terminal without waiting, and without making it the controlling terminal."""


@cache
def host_name() -> str:
    """The name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform

    return platform.node()


def is_own_file(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process; False on systems without user ids."""
    return status.st_uid == user_id()


def user_id() -> int:
    """The id of this process's user; -1 on systems without user ids."""
    return os.getuid() if hasattr(os, "getuid") else -1
