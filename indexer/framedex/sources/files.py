"""The source files of a tree, and their languages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from framedex.base.errors import raise_if_limit
from framedex.path_resolution.files import FoundFile, find_file, is_process_path

LANGUAGES = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".c++", ".cu"), "cpp"),
    **dict.fromkeys((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".ipp", ".tcc", ".tpp"), "cpp"),
    **dict.fromkeys((".py", ".pyi"), "python"),
    ".proto": "protobuf",
    ".td": "tablegen",
}
"""Language by file suffix. C is parsed as C++; protobuf and TableGen files generate C++."""

# Generated, vendored or foreign content. Hidden folders (.git, .venv, .tox) are skipped by their dot.
_SKIPPED_FOLDERS = frozenset(
    ("__pycache__", "node_modules", "build", "_build", "cmake-build-debug", "cmake-build-release", "CMakeFiles", "dist")
)
_BAZEL_LINKS = ("bazel-bin", "bazel-out", "bazel-testlogs", "bazel-genfiles")


def find_language(path: str | Path) -> str | None:
    """A language of `LANGUAGES`, or None if the file is not a source file."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - for every file of a tree


def find_files(
    root: Path,
    unreadable: Callable[[str], object] = lambda _: None,
    may_follow: Callable[[str, str], bool] = lambda _link, _target: True,
) -> Iterator[FoundFile]:
    """The source files below `root`, ordered by path, each real folder and file once, even if several links lead to it.

    Paths are real paths. Unreadable folders are skipped and reported to `unreadable`. `may_follow` decides whether to
    follow a link to a folder or source file, from its path and real target. A link to a folder above the link or above
    the root is never followed: a link to `/` would add the whole machine.
    """
    top = os.path.realpath(root)
    seen: set[tuple[int, int]] = set()
    files: set[str] = set()
    pending = [top]
    while pending:
        folders = []
        for entry in _list_folder(pending.pop(), seen, unreadable):
            is_folder = _is_folder(entry)
            is_wanted = not _is_skipped(entry) if is_folder else find_language(entry.name) is not None
            path = _real_path(entry, top, may_follow) if is_wanted else None
            if path is None:
                continue
            if is_folder:
                folders.append(path)
            elif path not in files and (found := find_file(path)):
                files.add(path)
                yield found
        pending.extend(reversed(folders))


def _list_folder(
    folder: str, seen: set[tuple[int, int]], unreadable: Callable[[str], object]
) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; empty if the folder was seen before, is unreadable, or is in /proc."""
    if is_process_path(folder):
        return []
    try:
        status = os.stat(folder)  # noqa: PTH116
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return []
        seen.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise_if_limit(error)
        unreadable(folder)
        return []


def _real_path(entry: os.DirEntry[str], top: str, may_follow: Callable[[str, str], bool]) -> str | None:
    """The real path of an entry; None for a broken link or one that must not be followed."""
    if not entry.is_symlink():
        return entry.path
    try:
        target = os.path.realpath(entry.path, strict=True)
    except OSError:
        return None
    if not may_follow(entry.path, target):
        return None
    inside = f"{target.rstrip('/')}/"
    return None if entry.path.startswith(inside) or top.startswith(inside) else target


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    is_bazel_link = name in _BAZEL_LINKS or (name.startswith("bazel-") and entry.is_symlink())
    return name.startswith(".") or name in _SKIPPED_FOLDERS or name.endswith(".egg-info") or is_bazel_link


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
