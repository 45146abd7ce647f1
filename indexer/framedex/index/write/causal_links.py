"""Writing what had calls made that come on threads without Python."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from framedex.dispatch import CausalLink
from framedex.index.write.interning import link_nodes


def add_causal_links(
    connection: sqlite3.Connection, capture_id: int, links: Sequence[CausalLink], frames: Sequence[Sequence[int]]
) -> None:
    """Add the links of a capture whose calls are there already; `frames` as for `logical_frames`."""
    if not links:
        return
    first = connection.execute("SELECT first_call FROM captures WHERE id = ?", (capture_id,)).fetchone()[0]
    query = "SELECT id FROM threads WHERE capture = ? ORDER BY id"
    threads = [thread for (thread,) in connection.execute(query, (capture_id,))]
    chains = list(dict.fromkeys(link.frames for link in links))
    nodes = dict(zip(chains, link_nodes(connection, chains, frames), strict=True))
    connection.executemany(
        "INSERT INTO call_links(call, thread, node, how) VALUES (?, ?, ?, ?)",
        ((first + link.call, threads[link.thread], nodes[link.frames], link.how.value) for link in links),
    )


def forget_causal_links(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Remove the links of a range of calls."""
    connection.execute("DELETE FROM call_links WHERE call BETWEEN ? AND ?", (first, last))
