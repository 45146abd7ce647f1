"""Write the links from calls on threads without Python to the lines that caused them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from framedex.index.write.tree import Tree, link_nodes
from framedex.model import CallBatch, LinkHow

_HOW = [how.value for how in LinkHow]


class LinkWriter:
    """Writes the causal links of one capture.

    Its calls begin at the id `first`; `frames` is as for `logical_frames`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        tree: Tree,
        first: int,
        threads: Sequence[int],
        frames: Sequence[Sequence[int]],
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._first = first
        self._threads = threads
        self._frames = frames
        self._nodes: list[int] = []
        self._before: int | None = None

    def meet(self, batch: CallBatch) -> None:
        """Add the chains of a batch."""
        self._nodes += link_nodes(self._tree, batch.chains, self._frames)

    def add(self, batch: CallBatch) -> None:
        """Write the links of a batch whose calls are stored. Existing links stay unchanged."""
        self.meet(batch)
        if not len(batch.links):
            return
        if self._before is None:
            self._before = self._last_row()
        self._connection.executemany(
            "INSERT OR IGNORE INTO call_links(call, thread, node, how) VALUES (?, ?, ?, ?)",
            (
                (self._first + call, self._threads[thread], self._nodes[chain], _HOW[how])
                for call, thread, chain, how in batch.links.reshape(-1, 4).tolist()
            ),
        )

    def taken(self) -> int | None:
        """Return the last row of the table before the links written since the previous call; None without links."""
        before, self._before = self._before, None
        return before

    def _last_row(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM call_links").fetchone()[0])


def forget_causal_links(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Remove the links of a range of calls."""
    connection.execute("DELETE FROM call_links WHERE call BETWEEN ? AND ?", (first, last))
