"""Data model of a generated project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMPILED = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu")
"""Suffixes of translation units; the other C++ files are headers."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The C and C++ files of a tree.

    `root` is a real path; `files` are relative to it and sorted. Files that were left out are only counted: `tests`,
    the
    `excluded`, those `in_output` (the folder to write to), and the `unnamed`, whose names are not UTF-8. `outward` are
    the
    links to folders and C++ files outside the tree, relative to it. `unreadable` folders are absolute.
    """

    root: Path
    files: tuple[str, ...]
    tests: int
    excluded: int
    in_output: int
    unnamed: int
    outward: tuple[str, ...]
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IncludeRoots:
    """The include folders, in search order.

    `own` are relative to the tree, "" being its root; `foreign` are absolute. `includes` counts the #include lines of
    non-standard headers. `missing` counts the lines whose header was not found, by the header's first folder.
    """

    own: tuple[str, ...]
    foreign: tuple[str, ...]
    includes: int
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Project:
    """A tree and its compile settings. `standard` is that of C++; each of `defines` is an `is_definition`."""

    tree: SourceTree
    roots: IncludeRoots
    standard: str
    defines: tuple[str, ...]


def is_compiled(path: str) -> bool:
    """Return whether this file name is that of a translation unit."""
    return path.lower().endswith(COMPILED)


def is_c(path: str) -> bool:
    """Return whether compilers treat this translation unit as C: `.C` is C++."""
    return path.endswith(".c")
