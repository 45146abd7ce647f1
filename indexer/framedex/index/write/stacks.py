"""Write the rows that calls refer to: stacks, kinds of calls, and links to the lines that caused calls.

The stack of an FFI run includes the site of the run. Calls on native threads have links.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from framedex.index.file.conventions import IN_JSON, MAX_SAMPLES, SPAN_SIZE, build_json_list
from framedex.index.write.bulk_rows import STAGED_ROWS, Integers, read_ids, stage_rows
from framedex.index.write.interning import MERGE_OUTCOMES, StackLeaves, intern_stacks
from framedex.index.write.tree import StackTree, write_chains
from framedex.model import CallBatch, KindTotals, LinkEvidence, Stack, StackColumns, read_stack_columns
from framedex.model.capture import STACKS_PER_BATCH


class StackRow(NamedTuple):
    """A row of `stacks`: its id, and its leaves in the tree of nodes (0: none)."""

    id: int
    leaf: int
    python_leaf: int
    site_leaf: int


class StackRows:
    """The rows of a capture's stacks, written on construction; `frames` is as for `StackTree.intern_chains`."""

    def __init__(
        self, connection: sqlite3.Connection, tree: StackTree, stacks: Sequence[Stack], frames: Sequence[Sequence[int]]
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._frames = frames
        self._stacks: Sequence[Stack] = ()
        self.leaves = StackLeaves.empty()
        """The leaves of each stack, without sites."""
        self.ids: Integers = np.zeros(0, np.int64)
        """The row of each stack."""
        self._rows_at_sites: dict[tuple[int, int], StackRow] = {}
        self.extend(stacks)

    def extend(self, stacks: Sequence[Stack]) -> None:
        """Continue with more stacks; the known stacks come first in `stacks`."""
        added = [
            self._intern_leaves(read_stack_columns(stacks, begin, min(begin + STACKS_PER_BATCH, len(stacks))))
            for begin in range(len(self._stacks), len(stacks), STACKS_PER_BATCH)
        ]
        self._tree.write()
        self._stacks = stacks
        if added:
            leaves = StackLeaves.concatenate(added)
            self.leaves = StackLeaves.concatenate([self.leaves, leaves])
            self.ids = np.concatenate([self.ids, intern_stacks(self._connection, leaves)])

    def _intern_leaves(self, stacks: StackColumns) -> StackLeaves:
        leaf, python_leaf = self._tree.intern_chains(stacks.frames, stacks.sizes, self._frames).reshape(-1, 2).T
        outcome = np.array([MERGE_OUTCOMES[each] for each in stacks.outcomes], np.int64)
        return StackLeaves(leaf, python_leaf, np.zeros_like(leaf), outcome, stacks.is_truncated)

    def find_row(self, stack: int, site: int = 0) -> StackRow:
        """Return the row of a stack of the capture, by its index; `site` is the node of its `ffi_call` (0: none)."""
        leaves = self.leaves[stack : stack + 1]
        if not site:
            return _build_row(self.ids[stack : stack + 1], leaves)
        found = self._rows_at_sites.get((stack, site))
        if found is None:
            entry = self.find_entry_frame(stack)
            handler = self._frames[entry] if entry is not None else []
            site_leaf = self._tree.intern_leaf(handler, parent=site)
            self._tree.write()
            at_site = replace(leaves, site_leaf=np.array([site_leaf]))
            found = _build_row(intern_stacks(self._connection, at_site), at_site)
            self._rows_at_sites[stack, site] = found
        return found

    def find_entry_frame(self, stack: int) -> int | None:
        """Return the index of the frame in which a stack ends; None if the stack is empty."""
        frames = self._stacks[stack].frames
        return frames[0] if frames else None


def _build_row(ids: Integers, leaves: StackLeaves) -> StackRow:
    return StackRow(int(ids[0]), int(leaves.leaf[0]), int(leaves.python_leaf[0]), int(leaves.site_leaf[0]))


_LINK_EVIDENCE = [how.value for how in LinkEvidence]


class LinkWriter:
    """Writes the causal links of one capture.

    Its calls begin at the id `first`; `frames` is as for `StackTree.intern_chains`.
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

_KIND_TOTALS = "calls, duration, own_duration, longest, longest_call, first_call, latest_call"


def add_to_kinds(connection: sqlite3.Connection, added: KindTotals) -> None:
    """Add to the totals of rows of `call_kinds`; a row may occur several times. Calls are rows of `call_rows`.

    Totals without calls change only the own time: a later call began inside an earlier one.
    """
    has_calls = added.calls != 0
    connection.executemany(
        "UPDATE call_kinds SET own_duration = own_duration + ? WHERE id = ?",
        zip(added.own_duration[~has_calls].tolist(), added.kind[~has_calls].tolist(), strict=True),
    )
    stage_rows(connection, _merge_kinds(added[has_calls]))
    connection.execute(
        f"UPDATE call_kinds SET ({_KIND_TOTALS}) = (SELECT calls + c1, duration + c2, own_duration + c3,"
        " max(longest, c4), CASE WHEN (c4, c5) > (longest, coalesce(longest_call, 0)) THEN c5 ELSE longest_call END,"
        " min(coalesce(first_call, c6), c6), max(coalesce(latest_call, c7), c7)"
        f" FROM {STAGED_ROWS} WHERE c0 = id) WHERE id IN (SELECT c0 FROM {STAGED_ROWS})"
    )


def _merge_kinds(totals: KindTotals) -> tuple[Integers, ...]:
    """Return the columns with one row for each kind, sorted."""
    if not len(totals.kind):
        return totals.columns
    kind, calls, duration, own_duration, longest, longest_call, first, latest = totals[
        np.lexsort((totals.longest_call, totals.longest, totals.kind))
    ].columns
    starts = np.flatnonzero(np.diff(kind, prepend=-1))
    ends = np.append(starts[1:], len(kind)) - 1
    return (
        kind[starts],
        *(np.add.reduceat(column, starts) for column in (calls, duration, own_duration)),
        *(longest[ends], longest_call[ends]),
        *(np.minimum.reduceat(first, starts), np.maximum.reduceat(latest, starts)),
    )


def intern_kinds(
    connection: sqlite3.Connection,
    capture: int,
    stack: Integers,
    boundary: Integers,
    thread: Integers,
    error: Integers,
) -> Integers:
    """Return the rows of these kinds of calls. Missing kinds are added with zero calls."""
    stage_rows(connection, [np.arange(len(stack)), stack, boundary, thread, error])
    connection.execute(
        "INSERT OR IGNORE INTO call_kinds(stack, boundary, thread, error, capture, calls, duration, own_duration,"
        f" longest) SELECT c1, c2, c3, c4, {capture}, 0, 0, 0, 0 FROM {STAGED_ROWS} ORDER BY c0"
    )
    return read_ids(
        connection,
        f"SELECT k.id FROM {STAGED_ROWS} CROSS JOIN call_kinds k ON k.stack = c1 AND k.capture = {capture}"
        " AND k.boundary = c2 AND k.thread = c3 AND k.error = c4 ORDER BY c0",
    )


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
