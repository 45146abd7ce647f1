"""Which files of a tree are sources, and in what language."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".c++", ".cu"), "cpp"),
    **dict.fromkeys((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp"), "cpp"),
    **dict.fromkeys((".py", ".pyi"), "python"),
    ".proto": "protobuf",
    ".td": "tablegen",
}
"""Language by file suffix; C is read as C++, and the last two are what C++ is generated from."""

# Generated, vendored or foreign content. Hidden folders (.git, .venv, .tox) are skipped by their dot.
_SKIPPED = frozenset(
    ("__pycache__", "node_modules", "build", "_build", "cmake-build-debug", "cmake-build-release", "CMakeFiles", "dist")
)
_BAZEL = ("bazel-bin", "bazel-out", "bazel-testlogs", "bazel-genfiles")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A source file and its state: `modified` is mtime in ns, `size` in bytes."""

    path: str
    modified: int
    size: int


def language_of(path: str | Path) -> str | None:
    """A language of `LANGUAGES`, or None for a file that is no source."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - for every file of a tree


def find_files(root: Path, unreadable: Callable[[str], object] = lambda _: None) -> Iterator[FoundFile]:
    """The source files below `root`, ordered by path, each real folder once however many links lead to it.

    Their paths are real ones. Folders that cannot be read are passed over, and `unreadable` is told.
    """
    seen: set[tuple[int, int]] = set()
    pending = [os.path.realpath(root)]
    while pending:
        folders = []
        for entry in _entries(pending.pop(), seen, unreadable):
            if _is_folder(entry):
                if not _is_skipped(entry):
                    folders.append(_real_path(entry))
            elif language_of(entry.name) and (found := found_file(_real_path(entry))):
                yield found
        pending.extend(reversed(folders))


def found_file(path: str) -> FoundFile | None:
    """The ordinary file at this path, None where there is none: what is below /proc is of this process alone."""
    if path.startswith("/proc/"):
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - a hot loop over thousands of files
    except (OSError, ValueError):
        return None
    return FoundFile(path, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _entries(folder: str, seen: set[tuple[int, int]], unreadable: Callable[[str], object]) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; none of one that was seen before or cannot be read."""
    try:
        status = os.stat(folder)  # noqa: PTH116
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return []
        seen.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        unreadable(folder)
        return []


def _real_path(entry: os.DirEntry[str]) -> str:
    return os.path.realpath(entry.path) if entry.is_symlink() else entry.path


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    is_bazel_link = name in _BAZEL or (name.startswith("bazel-") and entry.is_symlink())
    return name.startswith(".") or name in _SKIPPED or name.endswith(".egg-info") or is_bazel_link


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
