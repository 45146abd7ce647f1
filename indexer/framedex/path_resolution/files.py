"""Existence and state of source files, read from the file system once per answer."""

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
    """Return the regular file at an absolute path, as it is now or as this answer first saw it; None if missing.

    None also for paths below /proc, which belong to this process and not to the recorded one. None also for relative
    paths: those of source maps, or relative to an unknown folder.
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
    """Whether the source file at an absolute path exists on this machine; see `found_file`."""
    return found_file(path) is not None


def is_here_as_typed(path: str) -> bool:
    """Whether the file at a path typed by the user exists; relative paths start at the working folder."""
    return _look(path) is not None


def is_of_a_process(path: str) -> bool:
    """Whether a path is below /proc: compilers record their working folder as `/proc/self/cwd`.

    Paths such as `/dev/stdin` lead there too. A log that names one does not mean the reader's own.
    """
    if not path.startswith("/") or ("/proc" not in path and "/dev" not in path):
        return False
    return f"/{os.path.normpath(path).lstrip('/')}/".startswith((_PROCESSES, *_LINKS_INTO_PROC))


@contextmanager
def one_answer() -> Iterator[None]:
    """Check each file only once inside the block, so that an answer is consistent.

    Applies to this thread and task only.
    """
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
        status = os.stat(path)  # noqa: PTH116 - speed: called for every file of a tree
    except (OSError, ValueError):  # a zero byte, a lone surrogate
        return None
    return FoundFile(path, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None
