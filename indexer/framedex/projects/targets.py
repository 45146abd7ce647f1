"""Partition of a tree's files into CMake targets by folder, each small enough to browse."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LARGEST = 300

# CMake's own targets (policy CMP0037) and those added by its generators.
_RESERVED = frozenset(
    (
        *("all", "clean", "depend", "edit_cache", "help", "install", "list_install_components", "package"),
        *("package_source", "preinstall", "rebuild_cache", "test"),
        *("ALL_BUILD", "INSTALL", "PACKAGE", "RUN_TESTS", "ZERO_CHECK"),
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """A CMake target: its name and its files, relative to the tree."""

    name: str
    files: tuple[str, ...]


def targets(files: Sequence[str]) -> list[Target]:
    """Return the targets of these files: one per folder with all subfolders, split if it has more than 300 files."""
    taken: set[str] = set()
    return [Target(_name(folder, taken), tuple(part)) for folder, part in _parts("", files)]


def _parts(folder: str, files: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    if len(files) <= _LARGEST:
        yield folder, files
        return
    start = len(folder) + 1 if folder else 0
    direct = []
    below = defaultdict(list)
    for path in files:
        first, slash, _ = path[start:].partition("/")
        if slash:
            below[f"{path[:start]}{first}"].append(path)
        else:
            direct.append(path)
    if direct:
        yield folder, direct
    for inner, inside in sorted(below.items()):
        yield from _parts(inner, inside)


def _name(folder: str, taken: set[str]) -> str:
    plain = re.sub(r"\W+", "_", folder, flags=re.ASCII).strip("_") or "root"
    name = f"{plain}_files" if plain in _RESERVED else plain
    number = 2
    while name in taken:
        name = f"{plain}_{number}"
        number += 1
    taken.add(name)
    return name
