"""What a generated project is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMPILED = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu")
"""Suffixes of translation units; the other C++ files are headers."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The C and C++ files of a tree.

    `root` is a real path; `files` are relative to it, ordered. Counted only are the files that were left out: `tests`,
    those that are `excluded`, those `in_output`, the folder to write to, and the `unnamed`, whose names are no UTF-8.
    `outward` are the links to folders and C++ files that lead out of the tree, relative to it; `unreadable` folders
    are absolute.
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
    """The folders below which headers are looked for, in this order.

    `own` are relative to the tree, "" being its root; `foreign` are absolute. `includes` counts the #include lines
    that name no standard header, and `missing` those of them whose header is nowhere, by its first folder.
    """

    own: tuple[str, ...]
    foreign: tuple[str, ...]
    includes: int
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Project:
    """A tree and how its files are compiled. `standard` is that of C++, `defines` are each an `is_definition`."""

    tree: SourceTree
    roots: IncludeRoots
    standard: str
    defines: tuple[str, ...]


def is_compiled(path: str) -> bool:
    """Whether this is a translation unit, by its name."""
    return path.lower().endswith(COMPILED)


def is_c(path: str) -> bool:
    """Whether compilers take this translation unit for C: `.C` is C++."""
    return path.endswith(".c")
