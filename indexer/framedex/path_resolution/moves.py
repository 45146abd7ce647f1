"""Moved folders: map recorded paths below one to their current location.

For a moved project the new path is checked before the old one, where another checkout may be by now. Files beside the
project are mapped only if the old path is missing, as they may not have moved along.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from framedex.path_resolution.tails import common_tail

PROJECT_FOLDER = ".framedex"
"""The folder of a project's captures and index."""


@dataclass(frozen=True, slots=True)
class Move:
    """A folder moved from `before` to `after` (absolute); `is_whole`: all its content moved."""

    before: str
    after: str
    is_whole: bool

    def now(self, path: str) -> str:
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


class Moves:
    """The moves since a capture or an index was created. The first match applies."""

    def __init__(self, moves: Iterable[Move] = ()) -> None:
        self._moves = tuple(moves)

    @classmethod
    def of_capture(cls, made: str | None, folder: str) -> Moves:
        """Return the moves implied by a capture that was created in one folder and is now in another.

        The project whose `.framedex` contains it has moved, and perhaps the folders around it, up to the common end of
        both paths.
        """
        if made is None or made == folder:
            return cls()
        moves = []
        projects = project_of(made), project_of(folder)
        if projects[0] is not None and projects[1] is not None and projects[0] != projects[1]:
            moves.append(Move(projects[0], projects[1], is_whole=True))
        before, after = without_common_tail(made, folder)
        if before != "/":
            moves.append(Move(before, after, is_whole=False))
        return cls(moves)

    def __bool__(self) -> bool:
        return bool(self._moves)

    def has_reached(self, path: str) -> bool:
        """Whether an absolute path is in a folder that something moved to."""
        return any(path.startswith(f"{move.after}/") for move in self._moves)

    def now(self, path: str) -> str:
        """Return the current path of an absolute path: the path itself if it did not move."""
        return next((there for move in self._moves if (there := move.now(path)) != path), path)


def project_of(inside: str) -> str | None:
    """Return the project of a path inside its `.framedex`; None for any other path."""
    parents = [parent for parent in PurePath(inside).parents if parent.name == PROJECT_FOLDER]
    return str(parents[-1].parent) if parents else None


def without_common_tail(before: str, after: str) -> tuple[str, str]:
    """Return two absolute paths without their common last components."""
    left, right = PurePath(before).parts, PurePath(after).parts
    length = min(common_tail(left, right), len(left) - 1, len(right) - 1)
    return str(PurePath(*left[: len(left) - length])), str(PurePath(*right[: len(right) - length]))
