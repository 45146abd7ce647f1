"""The stacks of a capture as rows of the index. Stacks of FFI runs include the site of the run."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from framedex.index.write.interning import Chains, stack_ids
from framedex.index.write.tree import Tree, logical_frames
from framedex.model import Stack


@dataclass(frozen=True, slots=True)
class StackRow:
    """A row of `stacks`: its id, and its leaves in the tree of nodes (0: none)."""

    id: int
    leaf: int
    python_leaf: int
    site_leaf: int


class StackRows:
    """The rows of a capture's stacks, written on construction; `frames` is as for `logical_frames`."""

    def __init__(
        self, connection: sqlite3.Connection, tree: Tree, stacks: Sequence[Stack], frames: Sequence[Sequence[int]]
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._frames = frames
        self._stacks: Sequence[Stack] = ()
        self._chains: list[Chains] = []
        self._rows: list[StackRow] = []
        self._at_sites: dict[tuple[int, int], StackRow] = {}
        self.extend(stacks)

    def extend(self, stacks: Sequence[Stack]) -> None:
        """Continue with more stacks; the known stacks come first in `stacks`."""
        leaf, frames = self._tree.leaf, self._frames
        added = [
            Chains(
                leaf(logical_frames(stack.frames, frames)),
                leaf(logical_frames(stack.python, frames)),
                0,
                stack.outcome,
                stack.is_truncated,
            )
            for stack in stacks[len(self._stacks) :]
        ]
        self._tree.write()
        self._stacks = stacks
        self._chains += added
        self._rows += self._written(added)

    def row(self, stack: int, site: int = 0) -> StackRow:
        """Return the row of a stack of the capture, by its index; `site` is the node of its `ffi_call` (0: none)."""
        if not site:
            return self._rows[stack]
        found = self._at_sites.get((stack, site))
        if found is None:
            entry = self.entry(stack)
            handler = self._frames[entry] if entry is not None else []
            at_site = replace(self._chains[stack], site_leaf=self._tree.leaf(handler, below=site))
            self._tree.write()
            (found,) = self._written([at_site])
            self._at_sites[stack, site] = found
        return found

    def entry(self, stack: int) -> int | None:
        """Return the index of the frame in which a stack ends; None if the stack is empty."""
        frames = self._stacks[stack].frames
        return frames[0] if frames else None

    def _written(self, chains: Sequence[Chains]) -> list[StackRow]:
        ids = stack_ids(self._connection, chains)
        return [
            StackRow(identifier, chain.leaf, chain.python_leaf, chain.site_leaf)
            for identifier, chain in zip(ids, chains, strict=True)
        ]
