"""Existence and state of source files, and the user's rules for paths of other machines.

The file system is read once per answer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from framedex.base.folders import leads_inside

_PROCESSES = "/proc/"
_LINKS_INTO_PROC = ("/dev/fd/", "/dev/stdin/", "/dev/stdout/", "/dev/stderr/")

_ANSWER: ContextVar[dict[str, FoundFile | None] | None] = ContextVar("files of this answer", default=None)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A source file and its state: `modified` is mtime in ns, `size` in bytes."""

    path: str
    modified: int
    size: int


def find_file(path: str) -> FoundFile | None:
    """Return the regular file at an absolute path, as it is now or as this answer first saw it; None if missing.

    None also for paths below /proc, which belong to this process and not to the recorded one. None also for relative
    paths: those of source maps, or relative to an unknown folder.
    """
    if not path.startswith("/"):
        return None
    known = _ANSWER.get()
    if known is None:
        return _stat_file(path)
    if path not in known:
        known[path] = _stat_file(path)
    return known[path]


def file_exists(path: str) -> bool:
    """Whether the source file at an absolute path exists on this machine; see `find_file`."""
    return find_file(path) is not None


def typed_file_exists(path: str) -> bool:
    """Whether the file at a path typed by the user exists; relative paths start at the working folder."""
    return _stat_file(path) is not None


def is_process_path(path: str) -> bool:
    """Whether a path is below /proc: compilers record their working folder as `/proc/self/cwd`.

    Paths such as `/dev/stdin` lead there too. In a log, such a path means a file of the process that wrote the log.
    """
    if not path.startswith("/") or ("/proc" not in path and "/dev" not in path):
        return False
    return f"/{os.path.normpath(path).lstrip('/')}/".startswith((_PROCESSES, *_LINKS_INTO_PROC))


@contextmanager
def check_files_once() -> Iterator[None]:
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


def _stat_file(path: str) -> FoundFile | None:
    if is_process_path(path):
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - speed: called for every file of a tree
    except (OSError, ValueError):  # a zero byte, a lone surrogate
        return None
    return FoundFile(path, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


BUILD_FOLDER = "/proc/self/cwd"
"""The working folder that compilers record under Bazel; it does not exist on this machine."""

PATH_RULE_REMEDY = (
    "If it is a path of a build or of another machine: `framedex sources add FOLDER` adds a source folder, and a"
    " path-map in framedex.toml maps its folders to yours."
)
"""The remedy for a path without a local file."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """A rule: recorded paths below `before` are below `after` on this machine.

    `is_outside`: `after` is outside the folder of the settings. Such a rule counts only if `after` is in one of the
    user's source folders.
    """

    before: str
    after: Path
    is_outside: bool = False


def select_usable_rules(rules: Iterable[PathRule], sources: Sequence[str]) -> list[PathRule]:
    """Return the rules that may be used; `sources` are the source folders that the user has approved."""
    folders = [Path(source) for source in sources]
    return [
        rule for rule in rules if not rule.is_outside or any(leads_inside(rule.after, folder) for folder in folders)
    ]


class PathMap:
    """The rules of the settings. The time of a look-up depends on the depth of the path, not on the number of rules."""

    def __init__(self, rules: Iterable[PathRule], sources: Sequence[str] = ()) -> None:
        """`sources` are the user's source folders: see `select_usable_rules`."""
        # Not pathlib: recorded paths are not always valid for it.
        self._after = {_path_in_build(rule.before): rule.after for rule in select_usable_rules(rules, sources)}

    def apply(self, recorded: str) -> str | None:
        """Return the real path given by the longest matching rule, if the file exists.

        Relative paths, in rules and of files, start at `BUILD_FOLDER`.
        """
        if not self._after or "\0" in recorded:
            return None
        recorded = _path_in_build(recorded)
        before = recorded
        while before:
            after = self._after.get(before)
            if after is not None:
                try:
                    path = os.path.realpath(after / recorded[len(before) :].lstrip("/"))
                except ValueError:  # a lone surrogate: not a valid path
                    return None
                return path if file_exists(path) else None
            parent = os.path.dirname(before)  # noqa: PTH120 - recorded paths are not always valid Paths
            if parent == before:
                break
            before = parent
        return None


def _path_in_build(path: str) -> str:
    path = os.path.normpath(os.path.join(BUILD_FOLDER, path))  # noqa: PTH118 - as above
    return path[1:] if path.startswith("//") else path  # normpath keeps two leading slashes, which are special in POSIX
