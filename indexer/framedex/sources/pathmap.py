"""Where the files of another machine are here: by the rules of the settings, else by the tails of their paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from framedex.settings import PathRule
from framedex.sources.files import found_file
from framedex.sources.locate import TreeFiles

BUILD_FOLDER = "/proc/self/cwd"
"""What Bazel has compilers record as the folder that they work in. It is no folder of this machine."""

HOW_TO_MAP = (
    "If it is a path of a build or of another machine: `framedex sources add FOLDER` adds a source folder, and a"
    " path-map in framedex.toml says which folders are which."
)
"""What to do about a path that leads to no file here."""


@dataclass(frozen=True, slots=True)
class Here:
    """The file (real path) that a recorded path means here; `by_rule` where a rule of the settings says so."""

    path: str
    by_rule: bool


class PathMap:
    """The rules of the settings. A look-up takes as long as the path has folders, however many rules there are.

    Relative prefixes count from `BUILD_FOLDER`.
    """

    def __init__(self, rules: Iterable[PathRule]) -> None:
        # Not pathlib: recorded paths may be no valid text for it.
        self._after = {
            os.path.normpath(os.path.join(BUILD_FOLDER, rule.before)): rule.after  # noqa: PTH118
            for rule in rules
        }

    def there(self, recorded: str) -> str | None:
        """The real path that the longest fitting rule gives, if there is such a file."""
        if not self._after:
            return None
        before = recorded
        while before:
            after = self._after.get(before)
            if after is not None:
                try:
                    path = os.path.realpath(after / recorded[len(before) :].lstrip("/"))
                except ValueError:  # a zero byte, half of a surrogate pair: the path of no file
                    return None
                return path if found_file(path) else None
            parent = os.path.dirname(before)  # noqa: PTH120 - recorded paths may be no valid Path text
            if parent == before:
                break
            before = parent
        return None


def find_here(recorded: str, rules: PathMap, files: TreeFiles) -> Here | None:
    """The file here that is meant by a path which was recorded elsewhere; None where it is the path itself, or none.

    What a rule says goes before everything, also before a file that happens to be at the recorded path. Without one
    it is the file of the source trees that shares the longest tail, if only one does: see `TreeFiles.same_file`.
    """
    if path := rules.there(recorded):
        return Here(path, by_rule=True)
    if found_file(recorded):
        return None
    path = files.same_file(recorded.removeprefix(f"{BUILD_FOLDER}/"))
    return Here(path, by_rule=False) if path else None


def files_below(path: str, folders: Iterable[str]) -> list[str]:
    """The files below the folders that share the longest end of a path; its name alone only if it is all there is."""
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    for start in range(max(len(parts) - 1, 1)):
        end = "/".join(parts[start:])
        found = {os.path.realpath(file) for folder in folders if found_file(file := f"{folder}/{end}")}
        if found:
            return sorted(found)
    return []
