"""The history of a walk along frames, so that the next answer can stay on the same stacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


class Trail:
    """The locations returned since a walk began, with the stacks that led there.

    A walk begins with a query about a line that no earlier answer returned, and uses one index. Places are (real path,
    1-based line). Stacks are given by their nodes at the place, as in `framedex.model.Road`.
    """

    def __init__(self) -> None:
        self._index: Path | None = None
        self._nodes: dict[tuple[str, int], tuple[int, ...]] = {}
        self._turned: frozenset[tuple[str, int]] = frozenset()

    def index_at(self, path: str, line: int) -> Path | None:
        """Return the index whose answer led to a place; None if there is none."""
        return self._index if (path, line) in self._nodes else None

    def nodes_at(self, index: Path, path: str, line: int) -> Sequence[int] | None:
        """Return the nodes at a place that an answer from `index` led to; None if there are none."""
        return self._nodes.get((path, line)) if index == self._index else None

    def has_turned_at(self, path: str, line: int) -> bool:
        """Return whether the latest answer turned outward to this place, from inside a compiled program."""
        return (path, line) in self._turned

    def turn(self, targets: Iterable[tuple[str, int]]) -> None:
        """Record the places to which the latest answer turned outward."""
        self._turned = frozenset(targets)

    def led(self, index: Path, path: str, line: int, targets: Iterable[tuple[tuple[str, int], Sequence[int]]]) -> None:
        """Record the answer to a query about a place: targets and the nodes of each."""
        if self.nodes_at(index, path, line) is None:
            self._nodes.clear()
        self._index = index
        reached: dict[tuple[str, int], tuple[int, ...]] = {}
        for place, nodes in targets:
            reached[place] = (*reached.get(place, ()), *nodes)
        self._nodes |= reached
