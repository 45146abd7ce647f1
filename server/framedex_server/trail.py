"""Where a reader has come from by going to frames, so that the next answer can stay on the same stacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


class Trail:
    """The places that the answers since a walk began have led to, with the stacks that led there.

    A walk begins with a question about a line that no answer has led to, and is about one index. Places are (real path,
    1-based line); stacks are given by the nodes at which they stand on the place, as in `framedex.model.Road`.
    """

    def __init__(self) -> None:
        self._index: Path | None = None
        self._nodes: dict[tuple[str, int], tuple[int, ...]] = {}
        self._turned: frozenset[tuple[str, int]] = frozenset()

    def index_at(self, path: str, line: int) -> Path | None:
        """The index whose answer led to a place; None if none did."""
        return self._index if (path, line) in self._nodes else None

    def nodes_at(self, index: Path, path: str, line: int) -> Sequence[int] | None:
        """The nodes at a place that an answer from `index` led to; None if none did."""
        return self._nodes.get((path, line)) if index == self._index else None

    def has_turned_at(self, path: str, line: int) -> bool:
        """Whether the latest answer turned outward to this place, from inside a compiled program."""
        return (path, line) in self._turned

    def turn(self, targets: Iterable[tuple[str, int]]) -> None:
        """Note the places to which the latest answer turned outward."""
        self._turned = frozenset(targets)

    def led(self, index: Path, path: str, line: int, targets: Iterable[tuple[tuple[str, int], Sequence[int]]]) -> None:
        """Note what a question about a place was answered with: targets and the nodes of each."""
        if self.nodes_at(index, path, line) is None:
            self._nodes.clear()
        self._index = index
        reached: dict[tuple[str, int], tuple[int, ...]] = {}
        for place, nodes in targets:
            reached[place] = (*reached.get(place, ()), *nodes)
        self._nodes |= reached
