"""Which files of a tree are sources, and in what language."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LANGUAGES = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".c++", ".cu"), "cpp"),
    **dict.fromkeys((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp"), "cpp"),
    **dict.fromkeys((".py", ".pyi"), "python"),
    ".proto": "proto",
    ".td": "tablegen",
}
"""Language by file suffix; C is read as C++."""

# Generated, vendored or foreign content. Hidden folders (.git, .venv, .tox) are skipped by their dot.
_SKIPPED = frozenset(
    ("__pycache__", "node_modules", "build", "_build", "cmake-build-debug", "cmake-build-release", "CMakeFiles", "dist")
)
_BAZEL = ("bazel-bin", "bazel-out", "bazel-testlogs", "bazel-genfiles")


def language_of(path: Path) -> str | None:
    """`cpp`, `python`, `proto`, `tablegen`, or None for a file that is no source."""
    return LANGUAGES.get(path.suffix.lower())


def find_files(root: Path) -> Iterator[Path]:
    """The source files below `root`, ordered by path, each real folder once however many links lead to it.

    Folders that cannot be read are passed over.
    """
    seen: set[tuple[int, int]] = set()
    pending = [root]
    while pending:
        folder = pending.pop()
        entries = _entries(folder, seen)
        folders = []
        for entry in entries:
            path = Path(entry.path)
            if _is_folder(entry):
                if not _is_skipped(entry):
                    folders.append(path)
            elif language_of(path) and _is_file(entry):
                yield path
        pending.extend(reversed(folders))


def _entries(folder: Path, seen: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; none of one that was seen before or cannot be read."""
    try:
        status = folder.stat()
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return []
        seen.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    is_bazel_link = name in _BAZEL or (name.startswith("bazel-") and entry.is_symlink())
    return name.startswith(".") or name in _SKIPPED or name.endswith(".egg-info") or is_bazel_link


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
