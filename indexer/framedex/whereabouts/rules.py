"""The user's rules for the paths of other machines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from framedex.whereabouts.files import is_here

BUILD_FOLDER = "/proc/self/cwd"
"""What Bazel has compilers record as the folder that they work in. It is no folder of this machine."""

HOW_TO_MAP = (
    "If it is a path of a build or of another machine: `framedex sources add FOLDER` adds a source folder, and a"
    " path-map in framedex.toml says which folders are which."
)
"""What to do about a path that leads to no file here."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """Recorded paths that begin with the folders `before` are below `after` here."""

    before: str
    after: Path


class PathMap:
    """The rules of the settings. A look-up takes as long as the path has folders, however many rules there are."""

    def __init__(self, rules: Iterable[PathRule]) -> None:
        # Not pathlib: recorded paths may be no valid text for it.
        self._after = {_from_the_build(rule.before): rule.after for rule in rules}

    def there(self, recorded: str) -> str | None:
        """The real path that the longest fitting rule gives, if such a file is here.

        Relative paths, of rules and of files, count from `BUILD_FOLDER`.
        """
        if not self._after or "\0" in recorded:
            return None
        recorded = _from_the_build(recorded)
        before = recorded
        while before:
            after = self._after.get(before)
            if after is not None:
                try:
                    path = os.path.realpath(after / recorded[len(before) :].lstrip("/"))
                except ValueError:  # half of a surrogate pair: the path of no file
                    return None
                return path if is_here(path) else None
            parent = os.path.dirname(before)  # noqa: PTH120 - recorded paths may be no valid Path text
            if parent == before:
                break
            before = parent
        return None


def _from_the_build(path: str) -> str:
    path = os.path.normpath(os.path.join(BUILD_FOLDER, path))  # noqa: PTH118 - as above
    return path[1:] if path.startswith("//") else path  # normpath leaves two slashes, which POSIX lets mean more
