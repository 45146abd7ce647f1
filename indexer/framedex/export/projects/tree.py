"""The files of a tree that belong to its project, and the tree's include roots.

A build system other than CMake defines the include roots somewhere in thousands of BUILD files. The `#include` lines
define them too: if many files include "mhlo/IR/hlo_ops.h" and one folder has such a file, that folder is a root.
"""

from __future__ import annotations

import heapq
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

from framedex.base.regularfile import read_regular
from framedex.sources import find_files, find_language

# Test names of GoogleTest's users, Bazel and LLVM.
_TEST = re.compile(r"(?:.*/)?(?:(?:tests?|testdata|unittests?)/.*|[^/]*_(?:test|tests|unittest)\.[^/]*)", re.DOTALL)


def find_tree(root: Path, output: Path, excluded: Sequence[str], with_tests: bool) -> SourceTree:
    """Return the C and C++ files below `root`, without tests unless `with_tests` is set.

    `excluded` are glob patterns relative to the root, with `*`, `?` and `[...]`; a pattern that matches a folder
    excludes
    everything below it. Files in `output` are left out if that is a folder of the tree. Files reached only through a
    link
    out of the tree are left out too.
    """
    real = os.path.realpath(root)
    is_excluded = _build_matcher(excluded)
    is_output = _build_matcher(_own_folder(real, os.path.realpath(output)))
    counts = {"tests": 0, "excluded": 0, "unnamed": 0, "in_output": 0}
    files: set[str] = set()
    unreadable: list[str] = []
    external_links: list[str] = []

    def stays_inside(link: str, target: str) -> bool:
        if _is_inside(target, real):
            return True
        path = _relative_path(link, real)
        is_wanted = find_language(link) == "cpp" or os.path.isdir(target)  # noqa: PTH112 - Path.is_dir may raise
        if is_wanted and not (is_excluded(path) or is_output(path)):
            external_links.append(path)
        return False

    for found in find_files(Path(real), unreadable.append, stays_inside):
        if find_language(found.path) != "cpp":
            continue
        path = _relative_path(found.path, real)
        if is_output(path):
            counts["in_output"] += 1
        elif is_excluded(path):
            counts["excluded"] += 1
        elif not with_tests and _TEST.fullmatch(path):
            counts["tests"] += 1
        elif not _is_text(path):
            counts["unnamed"] += 1
        else:
            files.add(path)
    return SourceTree(
        Path(real),
        tuple(sorted(files)),
        unreadable=tuple(unreadable),
        external_links=tuple(sorted(external_links)),
        **counts,
    )


def _build_matcher(patterns: Sequence[str]) -> Callable[[str], object]:
    both = [translate(form) for pattern in patterns for form in (pattern, f"{pattern.rstrip('/')}/*")]
    return re.compile("|".join(both)).match if both else lambda _: False


def _own_folder(root: str, output: str) -> list[str]:
    inside = os.path.relpath(output, root)
    return [] if inside == "." or inside.startswith("..") else [re.sub(r"([*?[])", r"[\1]", inside)]


def _is_inside(path: str, root: str) -> bool:
    return f"{path}/".startswith(f"{root.rstrip('/')}/")


def _relative_path(path: str, root: str) -> str:
    return path[len(root.rstrip("/")) + 1 :]


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


COMPILED = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu")
"""Suffixes of translation units; the other C++ files are headers."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The C and C++ files of a tree.

    `root` is a real path; `files` are relative to it and sorted. Files that were left out are only counted: `tests`,
    the `excluded`, those `in_output` (the folder to write to), and the `unnamed`, whose names are not UTF-8.
    `external_links` are the links to folders and C++ files outside the tree, relative to it. `unreadable` folders are
    absolute.
    """

    root: Path
    files: tuple[str, ...]
    tests: int
    excluded: int
    in_output: int
    unnamed: int
    external_links: tuple[str, ...]
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
    """A tree and its compile settings. `standard` is the C++ standard. Each of `defines` is an `is_definition`."""

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
_MAX_FOLDERS = 100

Served = dict[str, set[str]]
"""The header names found in each folder, as written in `#include` lines."""


def find_include_roots(tree: SourceTree, include_folders: Sequence[Path]) -> IncludeRoots:
    """Return the include roots of a tree: its own, `include_folders`, and Bazel's output folders if they exist.

    The `external/` folder in one of `include_folders` is searched too, if it has Bazel's layout.
    """
    included = _count_included_names(tree)
    total = _count_includes(included)
    files = frozenset(tree.files)
    _remove_siblings(tree, files, included)
    own = ["", *_choose_folders(_find_own_serving_folders(files, included), included)]
    named = [os.path.realpath(folder) for folder in include_folders]
    for folder in named:
        _remove_headers(_find_served_headers(folder, included), included)
    candidates = _find_bazel_folders(tree.root, named)
    built = _choose_folders({folder: _find_served_headers(folder, included) for folder in candidates}, included)
    return IncludeRoots(tuple(own), tuple(dict.fromkeys([*named, *built])), total, _count_missing(included))


def _count_included_names(tree: SourceTree) -> dict[str, Counter[str]]:
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


def _remove_siblings(tree: SourceTree, files: frozenset[str], included: dict[str, Counter[str]]) -> None:
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


def _find_own_serving_folders(files: frozenset[str], included: Mapping[str, object]) -> Served:
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


def _choose_folders(served: Served, included: dict[str, Counter[str]]) -> list[str]:
    """Choose folders greedily: the next one serves most of the remaining `#include` lines."""

    def rank(folder: str) -> tuple[int, int, str]:
        lines = sum(included[name].total() for name in served[folder] if name in included)
        return -lines, len(folder), folder

    chosen: list[str] = []
    ranks = [rank(folder) for folder in served]
    heapq.heapify(ranks)
    while ranks and len(chosen) < _MAX_FOLDERS:
        known = heapq.heappop(ranks)
        now = rank(known[-1])
        if now != known and now[0]:  # Chosen folders serve some of its lines: requeue it with its lower rank.
            heapq.heappush(ranks, now)
        elif now[0]:
            chosen.append(known[-1])
            _remove_headers(served[known[-1]], included)
    return chosen


def _find_served_headers(folder: str, included: Iterable[str]) -> set[str]:
    """Return the headers in a folder that `#include` lines name."""
    try:
        with os.scandir(folder) as entries:
            first = {entry.name for entry in entries}
    except OSError:
        return set()
    return {name for name in included if name.partition("/")[0] in first and _exists(f"{folder}/{name}")}


def _remove_headers(names: Iterable[str], included: dict[str, Counter[str]]) -> None:
    for name in names:
        included.pop(name, None)


def _find_bazel_folders(root: Path, include_folders: Sequence[str]) -> list[str]:
    """Return Bazel's folders in a tree: its output, that of each external repository, and their sources.

    The layout is that of Bazel's documentation, "Output directory layout". `bazel-bin` is the root of generated files.
    `bazel-NAME`, a copy of the tree that consists of links, has all other repositories below `external`.
    """
    try:
        links = sorted(entry.path for entry in os.scandir(root) if entry.name.startswith("bazel-"))
    except OSError:
        links = []
    folders = []
    for tree in [*links, *include_folders]:
        is_output = tree.endswith("bazel-bin")
        folders += [tree] if is_output else []
        for repository in _list_folders(f"{tree}/external"):
            folders += [repository, *_find_include_folders(repository)]
    return [os.path.realpath(folder) for folder in folders]


def _find_include_folders(repository: str) -> Iterator[str]:
    """Yield the usual header folders of a repository, including those of LLVM's and GoogleTest's subprojects."""
    yield f"{repository}/include"
    yield f"{repository}/src"
    for folder in _list_folders(repository):
        yield f"{folder}/include"


def _list_folders(path: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(path) if entry.is_dir())
    except OSError:
        return []


def _count_missing(included: Mapping[str, Counter[str]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, folders in included.items():
        counts[name.partition("/")[0]] += folders.total()
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _count_includes(included: Mapping[str, Counter[str]]) -> int:
    return sum(folders.total() for folders in included.values())


def _exists(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - called for every header of a tree
    except (OSError, ValueError):
        return False
    return True
