"""Folders that were moved with all that is in them: what was recorded below one is where it is now.

A project that has moved is looked for where it is before the old place is looked at: another checkout may be there by
now. Files beside it count only where nothing is at their old place, as nobody knows whether they moved along.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from framedex.whereabouts.tails import common_tail

PROJECT_FOLDER = ".framedex"
"""What a project has its captures and its index in."""


@dataclass(frozen=True, slots=True)
class Move:
    """A folder that was at `before` and is at `after` now (absolute); `is_whole`: all that was in it has moved."""

    before: str
    after: str
    is_whole: bool

    def now(self, path: str) -> str:
        """Where an absolute path is now: the path itself where it did not move."""
        if not (path == self.before or path.startswith(f"{self.before.rstrip('/')}/")):
            return path
        moved = self.after + path[len(self.before.rstrip("/")) :]
        try:
            is_moved, is_left = os.path.exists(moved), os.path.exists(path)  # noqa: PTH110 - they may be no valid Path
        except ValueError:
            return path
        if is_moved == is_left:  # both are there: another checkout, or a copy. Or neither: removed since
            return moved if self.is_whole else path
        return moved if is_moved else path


class Moves:
    """What has moved since a capture or an index was made; the first that fits a path counts."""

    def __init__(self, moves: Iterable[Move] = ()) -> None:
        self._moves = tuple(moves)

    @classmethod
    def of_capture(cls, made: str | None, folder: str) -> Moves:
        """What has moved along with a capture that was made in one folder and lies in another now.

        That is the project in whose `.framedex` it is, and maybe what is around it, as far as the paths end alike.
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
        """Whether an absolute path is in a folder to which something has moved."""
        return any(path.startswith(f"{move.after}/") for move in self._moves)

    def now(self, path: str) -> str:
        """Where an absolute path is now: the path itself where it did not move."""
        return next((there for move in self._moves if (there := move.now(path)) != path), path)


def project_of(inside: str) -> str | None:
    """The project that a path inside of its `.framedex` is of; None for any other path."""
    parents = [parent for parent in PurePath(inside).parents if parent.name == PROJECT_FOLDER]
    return str(parents[-1].parent) if parents else None


def without_common_tail(before: str, after: str) -> tuple[str, str]:
    """Two absolute paths without the names that they both end in."""
    left, right = PurePath(before).parts, PurePath(after).parts
    length = min(common_tail(left, right), len(left) - 1, len(right) - 1)
    return str(PurePath(*left[: len(left) - length])), str(PurePath(*right[: len(right) - length]))
