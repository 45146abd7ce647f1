"""Stack paths in readable form: frames in sequence without a fork form one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.diff.model import Branch


@dataclass(frozen=True, slots=True)
class Run:
    """Frames in sequence, outermost first. `forks` counts the forks before them.

    `mark` is "-" for frames of the earlier recording only, "+" for the later one only, else a blank.
    """

    forks: int
    mark: str
    frames: tuple[Branch, ...]


def runs(branches: Sequence[Branch]) -> list[Run]:
    """Return the runs of a tree, callers before their callees."""
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
    """Return the position of each frame's caller; -1 for the outermost."""
    parents = []
    way: list[int] = []
    for position, branch in enumerate(branches):
        del way[branch.depth :]
        parents.append(way[-1] if way else -1)
        way.append(position)
    return parents
