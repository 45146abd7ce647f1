"""Roads in the form that people read: frames that follow one another without a fork are one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.diff.model import Branch


@dataclass(frozen=True, slots=True)
class Run:
    """Frames that follow one another, outermost first. `forks` counts the forks on the way to them.

    `mark` is "-" where only the recording before passes them, "+" where only the one after does, else a blank.
    """

    forks: int
    mark: str
    frames: tuple[Branch, ...]


def runs(branches: Sequence[Branch]) -> list[Run]:
    """The runs of a tree, callers before their callees."""
    parents = _parents(branches)
    callees = Counter(parents)
    forks: list[int] = []
    found: list[tuple[int, list[Branch]]] = []
    for branch, parent in zip(branches, parents, strict=True):
        is_only = parent >= 0 and callees[parent] == 1
        forks.append(forks[parent] + (not is_only) if parent >= 0 else 0)
        if is_only and _mark(branches[parent]) == _mark(branch):
            found[-1][1].append(branch)
        else:
            found.append((forks[-1], [branch]))
    return [Run(number, _mark(frames[0]), tuple(frames)) for number, frames in found]


def _mark(branch: Branch) -> str:
    return " " if branch.is_shared else "-" if branch.before else "+"


def _parents(branches: Sequence[Branch]) -> list[int]:
    """The position of the frame that leads to each one; -1 for the outermost."""
    parents = []
    way: list[int] = []
    for position, branch in enumerate(branches):
        del way[branch.depth :]
        parents.append(way[-1] if way else -1)
        way.append(position)
    return parents
