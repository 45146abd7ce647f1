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

    `root` is a real path; `files` are relative to it, ordered. Files behind a link that leaves the tree begin with
    `../`. `tests` were left out, as were `excluded` and `unnamed`, whose names are no UTF-8; these three are counts.
    """

    root: Path
    files: tuple[str, ...]
    tests: int
    excluded: int
    unnamed: int
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
    """A tree and how its files are compiled. `standard` is that of C++, `defines` are NAME or NAME=VALUE."""

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
