"""Include roots of a tree, inferred from its `#include` lines.

A build system other than CMake defines them somewhere in thousands of BUILD files. The `#include` lines define them
too: if many files include "mhlo/IR/hlo_ops.h" and one folder has such a file, that folder is a root.
"""

from __future__ import annotations

import heapq
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from framedex.projects.model import IncludeRoots, SourceTree
from framedex.regularfile import read_regular

_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+/[^>\n]+)>)')

# First folders of system and compiler headers.
_SYSTEM = frozenset(
    ("arpa", "asm", "asm-generic", "bits", "experimental", "linux", "mach", "net", "netinet", "netpacket", "sys")
)

# A root with a header of one of these names would shadow the C library's.
_STANDARD = tuple(
    f"{name}.h"
    for name in (
        *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "memory"),
        *("setjmp", "signal", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string"),
        *("threads", "time", "uchar", "wchar", "wctype", "dirent", "dlfcn", "fcntl", "pthread", "sched", "unistd"),
    )
)

# Every file is compiled with all roots, so thousands of roots would make gigabytes.
_MOST_FOLDERS = 100

Served = dict[str, set[str]]
"""The header names found in each folder, as written in `#include` lines."""


def find_include_roots(tree: SourceTree, given: Sequence[Path]) -> IncludeRoots:
    """Return the include roots of a tree: its own, the `given` ones, and Bazel's output folders if they exist.

    The `external/` folder of a given folder is searched too, if it has Bazel's layout.
    """
    included = _included_names(tree)
    total = _total(included)
    files = frozenset(tree.files)
    _take_out_siblings(tree, files, included)
    own = ["", *_choose(_served_by_own_folders(files, included), included)]
    named = [os.path.realpath(folder) for folder in given]
    for folder in named:
        _settle(_served(folder, included), included)
    candidates = _generated_folders(tree.root, named)
    built = _choose({folder: _served(folder, included) for folder in candidates}, included)
    return IncludeRoots(tuple(own), tuple(dict.fromkeys([*named, *built])), total, _missing(included))


def _included_names(tree: SourceTree) -> dict[str, Counter[str]]:
    """Return the non-system names in `#include` lines, with counts by the including file's folder."""
    included: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in tree.files:
        try:
            text = read_regular(tree.root / path)
        except OSError:
            continue
        folder = path.rpartition("/")[0]
        for quoted, angled in _INCLUDE.findall(text):
            name = (quoted or angled).decode("utf-8", "replace")
            if name.partition("/")[0] not in _SYSTEM:
                included[name][folder] += 1
    return dict(included)


def _take_out_siblings(tree: SourceTree, files: frozenset[str], included: dict[str, Counter[str]]) -> None:
    """Remove headers found relative to the tree's root or to the including file."""
    for name, folders in list(included.items()):
        if _is_below(tree, files, name):
            del included[name]
            continue
        for folder in list(folders):
            if _is_below(tree, files, f"{folder}/{name}"):
                del folders[folder]
        if not folders:
            del included[name]


def _is_below(tree: SourceTree, files: frozenset[str], name: str) -> bool:
    path = os.path.normpath(name)
    return path in files or _exists(f"{tree.root}/{path}")


def _served_by_own_folders(files: frozenset[str], included: Mapping[str, object]) -> Served:
    """Return the folders of the tree that have wanted headers below them.

    A header named without a folder counts only if exactly one file of the tree has its name.
    """
    paths = defaultdict(list)
    for path in files:
        paths[path.rpartition("/")[2]].append(path)
    served: defaultdict[str, set[str]] = defaultdict(set)
    for name in included:
        fitting = [path for path in paths.get(name.rpartition("/")[2], ()) if path.endswith(f"/{name}")]
        if "/" in name or len(fitting) == 1:
            for path in fitting:
                served[path.removesuffix(f"/{name}")].add(name)
    shadowing = {path.rpartition("/")[0] for standard in _STANDARD for path in paths.get(standard, ())}
    return {folder: names for folder, names in served.items() if folder not in shadowing}


def _choose(served: Served, included: dict[str, Counter[str]]) -> list[str]:
    """Choose folders greedily: the next one serves most of the remaining `#include` lines."""

    def rank(folder: str) -> tuple[int, int, str]:
        lines = sum(included[name].total() for name in served[folder] if name in included)
        return -lines, len(folder), folder

    chosen: list[str] = []
    ranks = [rank(folder) for folder in served]
    heapq.heapify(ranks)
    while ranks and len(chosen) < _MOST_FOLDERS:
        known = heapq.heappop(ranks)
        now = rank(known[-1])
        if now != known and now[0]:  # Chosen folders serve some of its lines: requeue it with its lower rank.
            heapq.heappush(ranks, now)
        elif now[0]:
            chosen.append(known[-1])
            _settle(served[known[-1]], included)
    return chosen


def _served(folder: str, included: Iterable[str]) -> set[str]:
    """Return the wanted headers in a folder."""
    try:
        with os.scandir(folder) as entries:
            first = {entry.name for entry in entries}
    except OSError:
        return set()
    return {name for name in included if name.partition("/")[0] in first and _exists(f"{folder}/{name}")}


def _settle(names: Iterable[str], included: dict[str, Counter[str]]) -> None:
    for name in names:
        included.pop(name, None)


def _generated_folders(root: Path, given: Sequence[str]) -> list[str]:
    """Return Bazel's folders in a tree: its output, that of each external repository, and their sources.

    The layout is that of Bazel's documentation, "Output directory layout". `bazel-bin` is the root of generated files.
    `bazel-NAME`, a copy of the tree made of links, has all other repositories below `external`.
    """
    try:
        links = sorted(entry.path for entry in os.scandir(root) if entry.name.startswith("bazel-"))
    except OSError:
        links = []
    folders = []
    for tree in [*links, *given]:
        is_output = tree.endswith("bazel-bin")
        folders += [tree] if is_output else []
        for repository in _folders(f"{tree}/external"):
            folders += [repository, *_include_folders(repository)]
    return [os.path.realpath(folder) for folder in folders]


def _include_folders(repository: str) -> Iterator[str]:
    """Yield the usual header folders of a repository, including those of LLVM's and GoogleTest's subprojects."""
    yield f"{repository}/include"
    yield f"{repository}/src"
    for folder in _folders(repository):
        yield f"{folder}/include"


def _folders(path: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(path) if entry.is_dir())
    except OSError:
        return []


def _missing(included: Mapping[str, Counter[str]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, folders in included.items():
        counts[name.partition("/")[0]] += folders.total()
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _total(included: Mapping[str, Counter[str]]) -> int:
    return sum(folders.total() for folders in included.values())


def _exists(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - called for every header of a tree
    except (OSError, ValueError):
        return False
    return True
