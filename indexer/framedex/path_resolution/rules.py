"""The user's rules for paths of other machines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from framedex.path_resolution.files import is_here

BUILD_FOLDER = "/proc/self/cwd"
"""The working folder that Bazel makes compilers record. It is not a folder of this machine."""

HOW_TO_MAP = (
    "If it is a path of a build or of another machine: `framedex sources add FOLDER` adds a source folder, and a"
    " path-map in framedex.toml says which folders are which."
)
"""The remedy for a path without a local file."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """A rule: recorded paths below `before` are below `after` here."""

    before: str
    after: Path


class PathMap:
    """The rules of the settings. The time of a look-up depends on the depth of the path, not on the number of rules."""

    def __init__(self, rules: Iterable[PathRule]) -> None:
        # Not pathlib: recorded paths are not always valid for it.
        self._after = {_from_the_build(rule.before): rule.after for rule in rules}

    def there(self, recorded: str) -> str | None:
        """Return the real path given by the longest matching rule, if the file exists.

        Relative paths, in rules and of files, start at `BUILD_FOLDER`.
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
                except ValueError:  # a lone surrogate: not a valid path
                    return None
                return path if is_here(path) else None
            parent = os.path.dirname(before)  # noqa: PTH120 - recorded paths are not always valid Paths
            if parent == before:
                break
            before = parent
        return None


def _from_the_build(path: str) -> str:
    path = os.path.normpath(os.path.join(BUILD_FOLDER, path))  # noqa: PTH118 - as above
    return path[1:] if path.startswith("//") else path  # normpath keeps two leading slashes, which are special in POSIX
