"""Selection of the files of a tree that belong to its project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from pathlib import Path

from framedex.projects.model import SourceTree
from framedex.sources import find_files, language_of

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
    is_excluded = _matcher(excluded)
    is_output = _matcher(_own_folder(real, os.path.realpath(output)))
    counts = {"tests": 0, "excluded": 0, "unnamed": 0, "in_output": 0}
    files: set[str] = set()
    unreadable: list[str] = []
    outward: list[str] = []

    def stays_inside(link: str, target: str) -> bool:
        if _is_inside(target, real):
            return True
        path = _relative(link, real)
        is_wanted = language_of(link) == "cpp" or os.path.isdir(target)  # noqa: PTH112 - Path.is_dir may raise
        if is_wanted and not (is_excluded(path) or is_output(path)):
            outward.append(path)
        return False

    for found in find_files(Path(real), unreadable.append, stays_inside):
        if language_of(found.path) != "cpp":
            continue
        path = _relative(found.path, real)
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
        Path(real), tuple(sorted(files)), unreadable=tuple(unreadable), outward=tuple(sorted(outward)), **counts
    )


def _matcher(patterns: Sequence[str]) -> Callable[[str], object]:
    both = [translate(form) for pattern in patterns for form in (pattern, f"{pattern.rstrip('/')}/*")]
    return re.compile("|".join(both)).match if both else lambda _: False


def _own_folder(root: str, output: str) -> list[str]:
    inside = os.path.relpath(output, root)
    return [] if inside == "." or inside.startswith("..") else [re.sub(r"([*?[])", r"[\1]", inside)]


def _is_inside(path: str, root: str) -> bool:
    return f"{path}/".startswith(f"{root.rstrip('/')}/")


def _relative(path: str, root: str) -> str:
    return path[len(root.rstrip("/")) + 1 :]


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
