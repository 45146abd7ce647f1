"""Files that are now elsewhere: files of source trees with the same path end, and moved folders.

For a moved project the new path is checked first, because another checkout may be at the old path now. Files beside the
project may not have moved with it: they are mapped only if the old path is missing.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from framedex.path_resolution.files import file_exists

# Generated file -> its source.
_GENERATED = (
    (re.compile(r"(?:\.grpc)?\.pb\.(?:cc|h)$"), ".proto"),
    (re.compile(r"\.(?:h|cc|cpp)\.inc$"), ".td"),
)


class TreeFiles:
    """The files of source trees by name, for look-ups in microseconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(path)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def files_called(self, name: str) -> Sequence[str]:
        """Return the files of exactly this name, in any folder."""
        return self._by_name.get(name, ())

    def files_with_tail(self, recorded: str) -> list[str]:
        """Return the files that share the longest path end with `recorded`; all files of that name for a bare name.

        Prefixes added by a build do not count (`external/xla/`, `bazel-out/k8-opt/bin/`, a build machine's folder): the
        longest common tail decides. A generated file is replaced by its source.
        """
        wanted = recorded.split("/")
        for pattern, source in _GENERATED:
            wanted[-1] = pattern.sub(source, wanted[-1])
        tails = [(count_common_tail(path.split("/"), wanted), path) for path in self.files_called(wanted[-1])]
        longest = max((length for length, _ in tails), default=0)
        return [path for length, path in tails if length == longest]

    def find_unique_file(self, recorded: str) -> str | None:
        """Return the one file with the longest common tail; None if several match, or if only the file name does.

        A match of the file name alone counts only if no more was recorded: every tree has a `util.cc`.
        """
        wanted = recorded.split("/")
        found = [path for path in self.files_with_tail(recorded) if path.rpartition("/")[2] == wanted[-1]]
        if len(found) != 1:
            return None
        length = count_common_tail(found[0].split("/"), wanted)
        return found[0] if length > 1 or length == len(wanted) else None

    def files_ending_in(self, recorded: str) -> list[str]:
        """Return the files whose paths end with the complete `recorded` path."""
        wanted = recorded.split("/")
        return [
            path for path in self.files_with_tail(recorded) if count_common_tail(path.split("/"), wanted) == len(wanted)
        ]

    def files_with_equal_tails(self, recorded: str) -> list[str]:
        """Return the files with the longest common tail, if it is longer than the name."""
        wanted = recorded.split("/")
        return [path for path in self.files_with_tail(recorded) if count_common_tail(path.split("/"), wanted) > 1]


def count_common_tail(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Return the number of last components that two paths, as lists, have in common."""
    length = 0
    for left, right in zip(reversed(path), reversed(wanted), strict=False):
        if left != right:
            break
        length += 1
    return length


def find_files_below(path: str, folders: Iterable[str]) -> list[str]:
    """Return the files in the folders that share the longest path end with `path`.

    A match of the file name alone counts only if `path` is a bare name.
    """
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    for start in range(max(len(parts) - 1, 1)):
        end = "/".join(parts[start:])
        found = {os.path.realpath(file) for folder in folders if file_exists(file := f"{folder}/{end}")}
        if found:
            return sorted(found)
    return []


PROJECT_FOLDER = ".framedex"
"""The folder of a project's captures and index."""


@dataclass(frozen=True, slots=True)
class FolderMove:
    """A folder moved from `before` to `after` (absolute); `is_whole`: all its content moved."""

    before: str
    after: str
    is_whole: bool

    def current_path(self, path: str) -> str:
        """Return the current path of an absolute path: the path itself if it did not move."""
        if not (path == self.before or path.startswith(f"{self.before.rstrip('/')}/")):
            return path
        moved = self.after + path[len(self.before.rstrip("/")) :]
        try:
            is_moved, is_left = os.path.exists(moved), os.path.exists(path)  # noqa: PTH110 - not always valid Paths
        except ValueError:
            return path
        if is_moved == is_left:  # both exist: another checkout, or a copy. Or neither: deleted since
            return moved if self.is_whole else path
        return moved if is_moved else path


class FolderMoves:
    """The moves since a capture or an index was created. The first match applies."""

    def __init__(self, moves: Iterable[FolderMove] = ()) -> None:
        self._moves = tuple(moves)

    @classmethod
    def of_capture(cls, recorded_folder: str | None, folder: str) -> FolderMoves:
        """Return the moves implied by a capture that was created in one folder and is now in another.

        The project whose `.framedex` contains it has moved, and perhaps the folders above the project, up to the common
        end of both paths.
        """
        if recorded_folder is None or recorded_folder == folder:
            return cls()
        moves = []
        projects = find_project(recorded_folder), find_project(folder)
        if projects[0] is not None and projects[1] is not None and projects[0] != projects[1]:
            moves.append(FolderMove(projects[0], projects[1], is_whole=True))
        before, after = remove_common_tail(recorded_folder, folder)
        if before != "/":
            moves.append(FolderMove(before, after, is_whole=False))
        return cls(moves)

    def __bool__(self) -> bool:
        return bool(self._moves)

    def is_in_moved_folder(self, path: str) -> bool:
        """Whether an absolute path is in the new place of a moved folder."""
        return any(path.startswith(f"{move.after}/") for move in self._moves)

    def current_path(self, path: str) -> str:
        """Return the current path of an absolute path: the path itself if it did not move."""
        return next((there for move in self._moves if (there := move.current_path(path)) != path), path)


def find_project(inside: str) -> str | None:
    """Return the project of a path inside its `.framedex`; None for any other path."""
    parents = [parent for parent in PurePath(inside).parents if parent.name == PROJECT_FOLDER]
    return str(parents[-1].parent) if parents else None


def remove_common_tail(before: str, after: str) -> tuple[str, str]:
    """Return two absolute paths without their common last components."""
    left, right = PurePath(before).parts, PurePath(after).parts
    length = min(count_common_tail(left, right), len(left) - 1, len(right) - 1)
    return str(PurePath(*left[: len(left) - length])), str(PurePath(*right[: len(right) - length]))
