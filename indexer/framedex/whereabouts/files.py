"""Whether a source file is here, and as it was: what the file system says of it, asked once for each answer."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_PROCESSES = "/proc/"
_LINKS_INTO_PROC = ("/dev/fd/", "/dev/stdin/", "/dev/stdout/", "/dev/stderr/")

_ANSWER: ContextVar[dict[str, FoundFile | None] | None] = ContextVar("files of this answer", default=None)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A source file and its state: `modified` is mtime in ns, `size` in bytes."""

    path: str
    modified: int
    size: int


def found_file(path: str) -> FoundFile | None:
    """The regular file at an absolute path, as it is now, or as this answer saw it first; None where there is none.

    None also for what is below /proc, which is of this process and not of the one that named it, and for a path that
    does not begin at the root: that of a source map, or one that counts from a folder that nobody knows.
    """
    if not path.startswith("/"):
        return None
    known = _ANSWER.get()
    if known is None:
        return _look(path)
    if path not in known:
        known[path] = _look(path)
    return known[path]


def is_here(path: str) -> bool:
    """Whether the source file at an absolute path is on this machine; see `found_file`."""
    return found_file(path) is not None


def is_here_as_typed(path: str) -> bool:
    """The same of a path that the user has typed, which may count from the working folder."""
    return _look(path) is not None


def is_of_a_process(path: str) -> bool:
    """Whether a path is below /proc: compilers call the folder that they work in `/proc/self/cwd`.

    `/dev/stdin` and its like lead there too: a log that names one does not mean the reader's own.
    """
    if not path.startswith("/") or ("/proc" not in path and "/dev" not in path):
        return False
    return f"/{os.path.normpath(path).lstrip('/')}/".startswith((_PROCESSES, *_LINKS_INTO_PROC))


@contextmanager
def one_answer() -> Iterator[None]:
    """Look at each file once inside: what an answer says of a file is of one moment. Of this thread and task alone."""
    if _ANSWER.get() is not None:
        yield
        return
    token = _ANSWER.set({})
    try:
        yield
    finally:
        _ANSWER.reset(token)


def _look(path: str) -> FoundFile | None:
    if is_of_a_process(path):
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - for every file of a tree, and every place that is shown
    except (OSError, ValueError):  # a zero byte, half of a surrogate pair
        return None
    return FoundFile(path, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None
