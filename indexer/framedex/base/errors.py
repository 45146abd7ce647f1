"""Errors that reach a user. Each has a message and a remedy; one function prints them.

If a process runs out of file descriptors or memory, the failed open says nothing about the file. If this were mistaken
for a missing or damaged file, the index would keep a wrong answer. So SystemLimitError is a separate class.
"""

from __future__ import annotations

import errno
import os


class FramedexError(Exception):
    """An error that a user can act on: `message` names the problem and `remedy` the solution, in plain sentences."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


_MORE_FILES = "Raise the limit for open files (`ulimit -n`), then run the command again."
OUT_OF_MEMORY_REMEDY = "Free some memory, or raise its limit (`ulimit -v`), then run the command again."
_REMEDIES = {
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: "Close other programs: the system has too many open files. Then run the command again.",
    errno.ENOMEM: OUT_OF_MEMORY_REMEDY,
}
_FAILURES = {
    errno.EIO: "Check the disk, then run the command again.",
    errno.ENOSPC: "Free some space on that disk, then run the command again.",
    errno.EDQUOT: "Free some space of your quota, then run the command again.",
    errno.EFBIG: "Raise the limit for the size of files (`ulimit -f`), then run the command again.",
    errno.EROFS: "Name a path on a file system that can be written.",
}


class SystemLimitError(FramedexError):
    """The process or the machine ran out of file descriptors or memory; the opened file is not the cause."""


def raise_if_limit(error: OSError) -> None:
    """Raise SystemLimitError if the system is out of file descriptors or memory; any other error concerns the file."""
    if (remedy := _REMEDIES.get(error.errno or 0)) is not None:
        raise SystemLimitError(_format_error(error), remedy) from error


def raise_if_no_descriptor() -> None:
    """Raise SystemLimitError if this process cannot open another file.

    Call it after errors of libraries that do not report why they could not open a file.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        error.filename = None
        raise_if_limit(error)


def convert_system_error(error: OSError | ImportError) -> FramedexError | None:
    """The message and remedy for a system error that ended a command; None for any other error."""
    try:
        if isinstance(error, OSError):
            raise_if_limit(error)
        else:  # an ImportError does not report why a library could not be loaded
            raise_if_no_descriptor()
    except SystemLimitError as limit:
        return limit
    if isinstance(error, OSError) and (remedy := _FAILURES.get(error.errno or 0)) is not None:
        return FramedexError(_format_error(error), remedy)
    return None


def _format_error(error: OSError) -> str:
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
    return f"{where}{error.strerror}."
