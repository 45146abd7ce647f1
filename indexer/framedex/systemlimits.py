"""Limits of the system: a process without open files or memory learns nothing about a file that it tries to read.

If such an error passes for a missing or damaged file, the index keeps a wrong answer that nothing corrects later.
"""

from __future__ import annotations

import errno
import os

from framedex.errors import FramedexError

_MORE_FILES = "Raise the limit for open files (`ulimit -n`), then run the command again."
_MORE_MEMORY = "Free some memory, or raise its limit (`ulimit -v`), then run the command again."
_REMEDIES = {
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: "Close other programs: the system has too many open files. Then run the command again.",
    errno.ENOMEM: _MORE_MEMORY,
}
_FAILURES = {
    errno.EIO: "Check the disk, then run the command again.",
    errno.ENOSPC: "Free some space on that disk, then run the command again.",
    errno.EDQUOT: "Free some space of your quota, then run the command again.",
    errno.EFBIG: "Raise the limit for the size of files (`ulimit -f`), then run the command again.",
    errno.EROFS: "Name a path on a file system that can be written.",
}


class SystemLimitError(FramedexError):
    """The process or the machine ran out of open files or memory: nothing is wrong with the file that was opened."""


def raise_if_limit(error: OSError) -> None:
    """Raise SystemLimitError if an error is about open files or memory; any other error is about its file."""
    if (remedy := _REMEDIES.get(error.errno or 0)) is not None:
        raise SystemLimitError(_sentence(error), remedy) from error


def raise_if_no_descriptor() -> None:
    """Raise SystemLimitError if this process cannot open another file.

    For errors of libraries that do not say why they could not open one.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        error.filename = None
        raise_if_limit(error)


def system_failure(error: BaseException) -> FramedexError | None:
    """The sentence and the remedy for an error of the system that ended a command; None for any other exception."""
    if isinstance(error, MemoryError):
        return SystemLimitError("There is not enough memory.", _MORE_MEMORY)
    try:
        if isinstance(error, OSError):
            raise_if_limit(error)
        elif isinstance(error, ImportError):  # which does not say why a library could not be loaded
            raise_if_no_descriptor()
    except SystemLimitError as limit:
        return limit
    if isinstance(error, OSError) and (remedy := _FAILURES.get(error.errno or 0)) is not None:
        return FramedexError(_sentence(error), remedy)
    return None


def _sentence(error: OSError) -> str:
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
    return f"{where}{error.strerror}."
