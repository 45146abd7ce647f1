"""The tree of nodes: its stored nodes, and those that the capture being written adds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import json_list
from framedex.index.file.paths import is_framedex_hook, is_installed

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """The parent and the frame of each node, by its id; node 0 is the root."""

    parent: Integers
    frame: Integers


def read_nodes(connection: sqlite3.Connection) -> NodeColumns:
    """Return the nodes of the index."""
    three: np.dtype[Any] = np.dtype((np.int64, 3))
    rows = np.fromiter(connection.execute("SELECT id, parent, frame FROM nodes"), three).reshape(-1, 3)
    parent, frame = np.zeros((2, int(np.max(rows[:, 0], initial=0)) + 1), np.int64)
    parent[rows[:, 0]] = rows[:, 1]
    frame[rows[:, 0]] = rows[:, 2]
    return NodeColumns(parent, frame)


_MANY_NODES = 20_000


@contextmanager
def change_nodes(connection: sqlite3.Connection, changed: int) -> Iterator[None]:
    """Change this many rows of `nodes`; if these are many, without the indexes of their totals.

    Building the two indexes again takes a tenth of the time of changing each entry. A restricted index has temporary
    nodes, whose indexes stay.
    """
    query = (
        "SELECT sql, name FROM main.sqlite_master WHERE type = 'index' AND tbl_name = 'nodes' AND sql LIKE '%longest%'"
        " AND NOT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'nodes')"
        " AND ? > max(?, (SELECT max(id) FROM nodes) / 4)"
    )
    dropped = connection.execute(query, (changed, _MANY_NODES)).fetchall()
    for _, name in dropped:
        connection.execute(f"DROP INDEX {name}")
    yield
    for statement, _ in dropped:
        connection.execute(statement)


class StackTree:
    """The tree of nodes: every stack is a path from the root, so common prefixes are stored once.

    It is read once, and stays valid until another process writes or a transaction is rolled back.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.read()

    def read(self) -> None:
        """Read the nodes of the index, and discard unwritten nodes."""
        self._stored = stored = read_nodes(self._connection)
        keys = (stored.parent << 32) | stored.frame
        self._nodes = dict(zip(keys.tolist(), range(len(keys)), strict=True))  # (parent, frame) -> node
        self._nodes.pop(0)
        self._count = len(keys)
        self._new: list[tuple[int, int, int]] = []  # node, parent, frame

    @property
    def nodes(self) -> NodeColumns:
        """Return all written nodes."""
        return self._stored

    def intern_leaf(self, frames: Iterable[int], parent: int = 0) -> int:
        """Return the node of the last frame of a path under a node; the node itself for an empty path.

        The path's outermost frame comes first. Missing nodes are added.
        """
        known = self._nodes
        node = parent
        for frame in frames:
            key = (node << 32) | frame
            found = known.get(key)
            if found is None:
                found = known[key] = self._count
                self._new.append((found, node, frame))
                self._count += 1
            node = found
        return node

    def intern_path(self, frames: Iterable[int], parent: int = 0) -> list[int]:
        """Return the nodes of these frames, outermost first, under a node. Missing nodes are added."""
        path: list[int] = []
        for frame in frames:
            parent = self.intern_leaf((frame,), parent)
            path.append(parent)
        return path

    def write(self) -> None:
        """Store the nodes added since the tree was read."""
        if not self._new:
            return
        added = np.array(self._new, np.int64)
        first = int(added[0, 0])
        self._stored = NodeColumns(
            np.concatenate([self._stored.parent[:first], added[:, 1]]),
            np.concatenate([self._stored.frame[:first], added[:, 2]]),
        )
        # The depth of a new node: its number of steps below a stored node.
        depth = self._compute_depths(added[:, 0])
        rows = zip(*(column.tolist() for column in (*added.T, depth)), self._find_user_nodes(), strict=True)
        with change_nodes(self._connection, len(added)):
            self._connection.executemany(
                "INSERT INTO nodes(id, parent, frame, depth, user_node, calls, longest, makes_client,"
                " run, run_calls, run_longest) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0)",
                rows,
            )
        # A new callee may show that a frame is on another line.
        self._connection.execute(
            "INSERT OR IGNORE INTO unmatched SELECT DISTINCT fn.short_name FROM nodes n"
            " JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"
            " WHERE n.id IN (SELECT value FROM json_each(?)) AND fr.how IS NOT 'exact'",
            (json_list(dict.fromkeys(added[:, 1].tolist())),),
        )
        self._new.clear()

    def _find_user_nodes(self) -> list[int]:
        """Return the `user_node` of each new node; see `schema.sql`."""
        kinds = self._find_python_frames({frame for _, _, frame in self._new})
        above = {parent for _, parent, _ in self._new}
        query = (
            "SELECT n.id, n.user_node, u.frame FROM json_each(?) s JOIN nodes n ON n.id = s.value"
            " JOIN nodes u ON u.id = n.user_node"
        )
        rows = self._connection.execute(query, (json_list(sorted(above)),)).fetchall()
        found = {node: user for node, user, _ in rows}
        kinds |= self._find_python_frames({frame for _, _, frame in rows})
        is_own = {user: kinds.get(frame, False) for _, user, frame in rows}
        for node, parent, frame in self._new:  # parents come first
            user = found.get(parent, 0)
            if kinds.get(frame) or (frame in kinds and not is_own.get(user)):
                user = node
                is_own[node] = kinds[frame]
            found[node] = user
        return [found[node] for node, _, _ in self._new]

    def _find_python_frames(self, frames: Iterable[int]) -> dict[int, bool]:
        """Return the Python frames with a location among these frames; True for the program's own frames."""
        query = (
            "SELECT fr.id, f.path FROM json_each(?) s JOIN frames fr ON fr.id = s.value"
            " JOIN functions fn ON fn.id = fr.function AND fn.language = 'python'"
            " JOIN files f ON f.id = coalesce(fr.recorded_file, fr.file) WHERE fr.line > 0"
        )
        rows = self._connection.execute(query, (json_list(sorted(frames)),))
        return {frame: not is_installed(path) for frame, path in rows if not is_framedex_hook(path)}

    def _compute_depths(self, nodes: Integers) -> Integers:
        depth = np.full(len(nodes), -1, np.int64)
        at = nodes
        while np.any(at):
            depth += at > 0
            at = self._stored.parent[at]
        return depth


def write_chains(tree: StackTree, chains: Sequence[Sequence[int]], frames: Sequence[Sequence[int]]) -> list[int]:
    """Write the outer parts of recorded stacks, each with its innermost frame first, and return their nodes.

    `frames` is as for `expand_inlined_frames`.
    """
    nodes = [tree.intern_leaf(expand_inlined_frames(chain, frames)) for chain in chains]
    tree.write()
    return nodes


def expand_inlined_frames(innermost_first: Sequence[int], frames: Sequence[Sequence[int]]) -> list[int]:
    """Return the ids of the logical frames of recorded frames, outermost first.

    `frames[i]` are the logical frames, outermost first, of the capture's frame `i`.
    """
    return [frame for recorded in reversed(innermost_first) for frame in frames[recorded]]
