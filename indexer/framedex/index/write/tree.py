"""The tree of nodes: its stored nodes, and those that the capture being written adds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from framedex.base.nativepart import _call_stream
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.paths import is_framedex_hook, is_installed
from framedex.index.write.bulk_rows import Integers, copy_rows


def find_distinct_values(values: Integers) -> Integers:
    """Return the distinct values, sorted. numpy's `unique` hashes integers first and takes several times as long."""
    values = np.sort(values)
    unique: Integers = values[np.diff(values, prepend=values[:1] - 1) != 0]
    return unique


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """The parent, the frame and the `user_node` of each node, by its id; node 0 is the root."""

    parent: Integers
    frame: Integers
    user: Integers

    def path_to(self, node: int) -> list[int]:
        """Return the nodes from the outermost one to this node."""
        path: list[int] = []
        while node:
            path.append(node)
            node = int(self.parent[node])
        return path[::-1]


def read_nodes(connection: sqlite3.Connection) -> NodeColumns:
    """Return the nodes of the index."""
    four: np.dtype[Any] = np.dtype((np.int64, 4))
    rows = np.fromiter(connection.execute("SELECT id, parent, frame, user_node FROM nodes"), four).reshape(-1, 4)
    columns = np.zeros((3, int(np.max(rows[:, 0], initial=0)) + 1), np.int64)
    columns[:, rows[:, 0]] = rows[:, 1:].T
    return NodeColumns(*columns)


def climb(outward: Integers, nodes: Integers) -> Iterator[Integers]:
    """Yield these nodes, then the next node outward of each, and so on; 0 beyond the last node of a path."""
    while True:
        yield nodes
        nodes = outward[nodes]
        if not nodes.any():
            return


_MANY_NODES = 20_000


@contextmanager
def defer_node_indexes(connection: sqlite3.Connection, changed: int) -> Iterator[None]:
    """Drop the indexes of totals in `nodes` during the block, if it changes most rows (`changed`).

    Building both indexes again takes 3 us a row of the table, and changing their entries in order takes 4 us a changed
    row. A restricted index has temporary nodes, whose indexes stay.
    """
    query = (
        "SELECT sql, name FROM main.sqlite_master WHERE type = 'index' AND tbl_name = 'nodes' AND sql LIKE '%longest%'"
        " AND NOT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'nodes')"
        " AND ? > max(?, (SELECT max(id) FROM nodes) * 3 / 4)"
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
        self._native = _call_stream.StackTree(stored.parent, stored.frame)

    @property
    def nodes(self) -> NodeColumns:
        """Return all written nodes."""
        return self._stored

    def intern_leaf(self, frames: Iterable[int], parent: int = 0) -> int:
        """Return the node of the last frame of a path under a node; the node itself for an empty path.

        The path's outermost frame comes first. Missing nodes are added.
        """
        for frame in frames:
            parent = self._native.intern(parent, frame)
        return parent

    def intern_path(self, frames: Iterable[int], parent: int = 0) -> list[int]:
        """Return the nodes of these frames, outermost first, under a node. Missing nodes are added."""
        path: list[int] = []
        for frame in frames:
            parent = self._native.intern(parent, frame)
            path.append(parent)
        return path

    def intern_chains(self, chains: Integers, sizes: Integers, frames: Sequence[Sequence[int]]) -> Integers:
        """Return the leaves of chains of recorded frames, each with its innermost frame first. Missing nodes are added.

        `chains` has the frames of all chains, `sizes` their numbers. `frames[i]` are the logical frames, outermost
        first, of the capture's frame `i`.
        """
        logical = np.array([each for of_frame in frames for each in of_frame], np.int64)
        return self._native.intern_chains(chains, sizes, logical, np.cumsum([len(each) for each in frames]))

    def write(self) -> None:
        """Store the nodes added since the tree was read."""
        parent, frame = self._native.take_unwritten()
        if not len(parent):
            return
        first = len(self._stored.parent)
        added = (parent, frame, np.zeros_like(parent))
        former = (self._stored.parent, self._stored.frame, self._stored.user)
        self._stored = stored = NodeColumns(*map(np.concatenate, zip(former, added, strict=True)))
        nodes = np.arange(first, len(stored.parent))
        depth = self._compute_depths(nodes)
        self._find_user_nodes(first, depth)
        zero = np.zeros_like(nodes)
        insert = (
            "INSERT INTO nodes(id, parent, frame, depth, user_node, calls, longest, makes_client, run, run_calls,"
            " run_longest)"
        )
        with defer_node_indexes(self._connection, len(nodes)):
            columns = (nodes, parent, frame, depth, stored.user[first:], *[zero] * 6)
            copy_rows(self._connection, insert, columns)
        # A new callee may show that a frame is on another line.
        self._connection.execute(
            "INSERT OR IGNORE INTO unmatched SELECT DISTINCT fn.short_name FROM frames fr"
            f" JOIN functions fn ON fn.id = fr.function WHERE fr.id {IN_JSON} AND fr.how IS NOT 'exact'",
            (build_json_list(find_distinct_values(stored.frame[parent]).tolist()),),
        )

    def _find_user_nodes(self, first: int, depth: Integers) -> None:
        """Find the `user_node` of each new node; see `schema.sql`. The new nodes begin at `first`."""
        parent, frame, user = self._stored.parent, self._stored.frame, self._stored.user
        above = find_distinct_values(parent[first:])
        frames = find_distinct_values(np.concatenate([frame[first:], frame[user[above[above < first]]]]))
        kinds = self._find_python_frames(frames.tolist())
        is_python, is_own = np.zeros((2, int(np.max(frames)) + 1), np.bool_)
        is_python[[*kinds]] = True
        is_own[[*kinds]] = [*kinds.values()]
        order = np.argsort(depth, kind="stable")
        for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
            nodes = first + level
            outer, own = user[parent[nodes]], is_own[frame[nodes]]
            is_user = own | (is_python[frame[nodes]] & ~is_own[frame[outer]])
            user[nodes] = np.where(is_user, nodes, outer)

    def _find_python_frames(self, frames: Iterable[int]) -> dict[int, bool]:
        """Return the Python frames with a location among these frames; True for the program's own frames."""
        query = (
            "SELECT fr.id, f.path FROM json_each(?) s JOIN frames fr ON fr.id = s.value"
            " JOIN functions fn ON fn.id = fr.function AND fn.language = 'python'"
            " JOIN files f ON f.id = coalesce(fr.recorded_file, fr.file) WHERE fr.line > 0"
        )
        rows = self._connection.execute(query, (build_json_list(sorted(frames)),))
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

    `frames` is as for `StackTree.intern_chains`.
    """
    if not chains:
        tree.write()
        return []
    sizes = np.array([len(each) for each in chains], np.int64)
    nodes = tree.intern_chains(np.array([*chain.from_iterable(chains)], np.int64), sizes, frames)
    tree.write()
    found: list[int] = nodes.tolist()
    return found
