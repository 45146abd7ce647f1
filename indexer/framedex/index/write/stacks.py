"""Write the rows that calls refer to: stacks, kinds of calls, and links to the lines that caused calls.

The stack of an FFI run includes the site of the run. Calls on native threads have links.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from framedex.index.file.conventions import IN_JSON, MAX_SAMPLES, SPAN_SIZE, build_json_list
from framedex.index.write.interning import StackLeaves, intern_stacks
from framedex.index.write.tree import StackTree, expand_inlined_frames, write_chains
from framedex.model import CallBatch, LinkEvidence, Stack


@dataclass(frozen=True, slots=True)
class StackRow:
    """A row of `stacks`: its id, and its leaves in the tree of nodes (0: none)."""

    id: int
    leaf: int
    python_leaf: int
    site_leaf: int


class StackRows:
    """The rows of a capture's stacks, written on construction; `frames` is as for `expand_inlined_frames`."""

    def __init__(
        self, connection: sqlite3.Connection, tree: StackTree, stacks: Sequence[Stack], frames: Sequence[Sequence[int]]
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._frames = frames
        self._stacks: Sequence[Stack] = ()
        self._chains: list[StackLeaves] = []
        self._rows: list[StackRow] = []
        self._rows_at_sites: dict[tuple[int, int], StackRow] = {}
        self.extend(stacks)

    def extend(self, stacks: Sequence[Stack]) -> None:
        """Continue with more stacks; the known stacks come first in `stacks`."""
        leaf, frames = self._tree.intern_leaf, self._frames
        added = [
            StackLeaves(
                leaf(expand_inlined_frames(stack.frames, frames)),
                leaf(expand_inlined_frames(stack.python, frames)),
                0,
                stack.outcome,
                stack.is_truncated,
            )
            for stack in stacks[len(self._stacks) :]
        ]
        self._tree.write()
        self._stacks = stacks
        self._chains += added
        self._rows += self._write_rows(added)

    def find_row(self, stack: int, site: int = 0) -> StackRow:
        """Return the row of a stack of the capture, by its index; `site` is the node of its `ffi_call` (0: none)."""
        if not site:
            return self._rows[stack]
        found = self._rows_at_sites.get((stack, site))
        if found is None:
            entry = self.find_entry_frame(stack)
            handler = self._frames[entry] if entry is not None else []
            at_site = replace(self._chains[stack], site_leaf=self._tree.intern_leaf(handler, parent=site))
            self._tree.write()
            (found,) = self._write_rows([at_site])
            self._rows_at_sites[stack, site] = found
        return found

    def find_entry_frame(self, stack: int) -> int | None:
        """Return the index of the frame in which a stack ends; None if the stack is empty."""
        frames = self._stacks[stack].frames
        return frames[0] if frames else None

    def _write_rows(self, chains: Sequence[StackLeaves]) -> list[StackRow]:
        ids = intern_stacks(self._connection, chains)
        return [
            StackRow(identifier, chain.leaf, chain.python_leaf, chain.site_leaf)
            for identifier, chain in zip(ids, chains, strict=True)
        ]


_LINK_EVIDENCE = [how.value for how in LinkEvidence]


class LinkWriter:
    """Writes the causal links of one capture.

    Its calls begin at the id `first`; `frames` is as for `expand_inlined_frames`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        tree: StackTree,
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
        self._rowid_before: int | None = None

    def register_batch(self, batch: CallBatch) -> None:
        """Write the chains of a batch, because the links of later batches refer to them."""
        self._nodes += write_chains(self._tree, batch.chains, self._frames)

    def add(self, batch: CallBatch) -> None:
        """Write the links of a batch whose calls are stored. Existing links stay unchanged."""
        self.register_batch(batch)
        if not len(batch.links):
            return
        if self._rowid_before is None:
            self._rowid_before = self._read_last_rowid()
        self._connection.executemany(
            "INSERT OR IGNORE INTO call_links(call, thread, node, how) VALUES (?, ?, ?, ?)",
            (
                (self._first + call, self._threads[thread], self._nodes[chain], _LINK_EVIDENCE[how])
                for call, thread, chain, how in batch.links.reshape(-1, 4).tolist()
            ),
        )

    def take_rowid_before_links(self) -> int | None:
        """Return the last row id before the links written since the previous call; None if no links were written."""
        before, self._rowid_before = self._rowid_before, None
        return before

    def _read_last_rowid(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM call_links").fetchone()[0])


def delete_causal_links(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Remove the links of a range of calls."""
    connection.execute("DELETE FROM call_links WHERE call BETWEEN ? AND ?", (first, last))


RECOMPUTE_KIND = (
    "UPDATE call_kinds SET (first_call, latest_call, longest, longest_call) = (SELECT min(c.id), max(c.id),"
    " coalesce(max(c.duration, 0), 0), NULL FROM call_spans s JOIN call_rows c"
    " ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind WHERE s.kind = call_kinds.id) WHERE id = ?"
)
"""Recomputes the first, latest and longest call of the kind ?, after one of its calls moved to another kind."""

ADD_TO_KIND = (
    "UPDATE call_kinds SET calls = calls + ?2, duration = duration + ?3, own_duration = own_duration + ?4,"
    " longest_call = CASE WHEN (?5, ?6) > (longest, coalesce(longest_call, 0)) THEN ?6 ELSE longest_call END,"
    " longest = max(longest, ?5), first_call = min(coalesce(first_call, ?7), ?7),"
    " latest_call = max(coalesce(latest_call, ?8), ?8) WHERE id = ?1"
)
"""Adds to the totals of the kind ?1: calls, duration, own duration, longest call, first and latest call."""


def intern_kind(
    connection: sqlite3.Connection, capture: int, stack: int, boundary: int, thread: int, error: int
) -> int:
    """Return the row of a kind of calls, adding it with zero calls if missing."""
    key = (stack, boundary, thread, error, capture)
    query = "SELECT id FROM call_kinds WHERE stack = ? AND boundary = ? AND thread = ? AND error = ? AND capture = ?"
    known = connection.execute(query, key).fetchone()
    if known is not None:
        return int(known[0])
    added = connection.execute(
        "INSERT INTO call_kinds(stack, boundary, thread, error, capture, calls, duration, own_duration, longest)"
        " VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)",
        key,
    ).lastrowid
    assert added is not None
    return added


def recount_kinds(connection: sqlite3.Connection, kinds: Iterable[int]) -> None:
    """Rebuild spans, totals and samples of these kinds from the calls of their captures, and delete empty kinds."""
    changed = build_json_list(kinds)
    captures = connection.execute(
        "SELECT id, first_call, last_call FROM captures"
        f" WHERE id IN (SELECT capture FROM call_kinds WHERE id {IN_JSON})",
        (changed,),
    ).fetchall()
    connection.execute(f"DELETE FROM call_spans WHERE kind {IN_JSON}", (changed,))
    for _, first, last in captures:
        connection.execute(
            f"INSERT INTO call_spans SELECT kind, min(id), max(id) FROM call_rows WHERE id BETWEEN ?2 AND ?3"
            f" AND kind IN (SELECT value FROM json_each(?1)) GROUP BY kind, (id - ?2) / {SPAN_SIZE}",
            (changed, first, last),
        )
        connection.execute(
            "WITH found AS (SELECT kind, count(*) AS calls, sum(max(duration, 0)) AS duration,"
            "  max(max(duration, 0)) AS longest, min(id) AS first, max(id) AS latest FROM call_rows"
            "  WHERE id BETWEEN ?2 AND ?3 AND kind IN (SELECT value FROM json_each(?1)) GROUP BY kind)"
            " UPDATE call_kinds SET calls = f.calls, duration = f.duration, own_duration = f.duration"
            " - coalesce((SELECT sum(max(c.duration, 0)) FROM call_rows c JOIN call_rows o ON o.id = c.id - c.inside"
            "  WHERE c.id BETWEEN ?2 AND ?3 AND o.kind = f.kind), 0), longest = f.longest,"
            " longest_call = (SELECT max(c.id) FROM call_rows c WHERE c.id BETWEEN ?2 AND ?3 AND c.kind = f.kind"
            "  AND max(c.duration, 0) = f.longest), first_call = f.first, latest_call = f.latest"
            " FROM found f WHERE call_kinds.id = f.kind",
            (changed, first, last),
        )
    empty = f"id {IN_JSON} AND id NOT IN (SELECT kind FROM call_spans)"
    connection.execute(f"DELETE FROM call_kinds WHERE {empty}", (changed,))
    for _, first, last in captures:
        connection.execute(
            "INSERT OR IGNORE INTO stack_samples SELECT stack, boundary, arguments FROM ("
            "SELECT *, row_number() OVER (PARTITION BY stack, boundary ORDER BY arguments) AS rank FROM ("
            "SELECT DISTINCT k.stack, k.boundary, c.arguments FROM call_rows c JOIN call_kinds k ON k.id = c.kind"
            " WHERE c.id BETWEEN ?2 AND ?3"
            f" AND c.kind IN (SELECT value FROM json_each(?1)))) WHERE rank <= {MAX_SAMPLES}",
            (changed, first, last),
        )
