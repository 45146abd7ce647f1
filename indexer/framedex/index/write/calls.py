"""Write the calls of a capture, batch by batch: their rows and arguments, and the totals of their kinds.

Millions of calls have only a few kinds, so Python code loops over kinds and over FFI handler runs, not over calls. If
the `ffi_call` of a run is known for certain, the kind of the run has a stack that leads to it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, SPAN_SIZE, build_json_list
from framedex.index.file.values import convert_duration_to_bucket, to_storable
from framedex.index.write.bulk_rows import NULL, STAGED_ROWS, Integers, copy_rows, stage_rows
from framedex.index.write.chain_totals import StackTotals
from framedex.index.write.ffi import FfiWriter
from framedex.index.write.stacks import (
    RECOMPUTE_KIND,
    StackRow,
    StackRows,
    add_to_kinds,
    intern_kind,
    intern_kinds,
)
from framedex.model import CallBatch, CallKind, KindTotals

_LOW_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _CallKind:
    """A row of `call_kinds`, with the leaves of its stack."""

    stack: StackRow
    boundary: int
    thread: int


class CallWriter:
    """Writes the calls of one capture. Their ids begin at `first`.

    `boundaries` and `threads` are the ids of the capture's functions and threads. `runs` flags the functions whose
    calls are runs of FFI handlers.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        capture: int,
        first: int,
        boundaries: Sequence[int],
        threads: Sequence[int],
        runs: Sequence[bool],
        stacks: StackRows,
        ffi: FfiWriter,
    ) -> None:
        self._connection = connection
        self._capture = capture
        self._first = first
        self._boundaries = boundaries
        self._threads = threads
        self._is_run = runs
        self._stacks = stacks
        self._ffi = ffi
        # By the stream's kinds: the index of the stack, the boundary function, and the row of `call_kinds`. This row is
        # 0 for runs of FFI handlers.
        self._kind_stacks, self._kind_boundaries, self._kind_ids = np.zeros((3, 0), np.int64)
        self._run_kinds: dict[int, CallKind] = {}  # the stream's kinds that are runs of FFI handlers
        self._kind_rows: dict[int, _CallKind] = {}
        self._argument_ids = self._read_argument_ids()
        self._items: list[Integers] = []  # columns: stack, its leaves, boundary, calls, duration, latest call
        self._samples: list[Integers] = []  # columns: stack, boundary, argument

    def _read_argument_ids(self) -> Integers:
        query = "SELECT id FROM arguments WHERE capture = ? ORDER BY id"
        return np.array(self._connection.execute(query, (self._capture,)).fetchall(), np.int64).reshape(-1)

    def register_batch(self, batch: CallBatch) -> None:
        """Register the kinds of a batch that is already written, because later batches refer to them."""
        self._register_kinds(batch.kinds)

    def add(self, batch: CallBatch) -> Integers:
        """Write a batch. Returns the kind of each of its calls, as rows of `call_kinds`."""
        self._add_arguments(batch.arguments)
        self._register_kinds(batch.kinds)
        kind = self._kind_ids[batch.kind]
        runs = np.flatnonzero(kind == 0)
        if len(runs):
            self._add_runs(batch, runs, kind)
        ids = self._first + batch.first + np.arange(len(batch), dtype=np.int64)
        self._insert_rows(ids, kind, batch)
        self._add_totals(batch, kind)
        self._add_spans(batch, kind, runs)
        self._add_durations(batch)
        for row in batch.changed.tolist():
            self._update_returned_call(*row)
        self._add_samples(batch)
        return kind

    def find_kind_id(self, stream_kind: int) -> int:
        """Return the row of a kind of the stream; 0 if its calls are handler runs."""
        return int(self._kind_ids[stream_kind])

    def read_argument_texts(self, arguments: Integers) -> list[str]:
        """Return the stored strings of these argument numbers of the stream."""
        ids = self._argument_ids[arguments].tolist()
        found = dict(
            self._connection.execute(f"SELECT id, json FROM arguments WHERE id {IN_JSON}", (build_json_list(ids),))
        )
        return [found[number] for number in ids]

    def take_items(self) -> tuple[StackTotals, Integers]:
        """Return and clear the items and samples added since the previous call, by stack and boundary function.

        The samples are columns of stacks, boundary functions and arguments.
        """
        items = np.concatenate([np.zeros((8, 0), np.int64), *self._items], axis=1)
        items = items[:, np.lexsort((items[4], items[0]))]
        starts = np.flatnonzero(np.diff(items[[0, 4]], prepend=-1).any(axis=0))
        merged = items[:, starts]
        if len(starts):
            merged[5:7] = np.add.reduceat(items[5:7], starts, axis=1)
            merged[7] = np.maximum.reduceat(items[7], starts)
        (run,) = self._connection.execute("SELECT run FROM captures WHERE id = ?", (self._capture,)).fetchone()
        samples = np.unique(np.concatenate([np.zeros((3, 0), np.int64), *self._samples], axis=1), axis=1)
        self._items, self._samples = [], []
        return StackTotals.from_run_columns(run, merged), samples

    def _add_arguments(self, arguments: Sequence[str]) -> None:
        if not arguments:
            return
        first: int = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM arguments").fetchone()[0]
        self._connection.executemany(
            f"INSERT INTO arguments(id, capture, json, has_shape) VALUES (?, {self._capture}, ?, ?)",
            ((identifier, to_storable(text), '"dims"' in text) for identifier, text in enumerate(arguments, first)),
        )
        new = np.arange(first, first + len(arguments), dtype=np.int64)
        self._argument_ids = np.concatenate([self._argument_ids, new])

    def _register_kinds(self, kinds: Sequence[CallKind]) -> None:
        if not kinds:
            return
        columns = np.array([(kind.function, kind.thread, kind.stack, kind.error) for kind in kinds], np.int64)
        function, thread, stack, error = columns.T
        boundary = np.array(self._boundaries, np.int64)[function]
        is_run = np.array(self._is_run, np.bool_)[function]
        for position in np.flatnonzero(is_run).tolist():
            self._run_kinds[len(self._kind_ids) + position] = kinds[position]
        key = self._stacks.ids[stack], boundary, np.array(self._threads, np.int64)[thread], error
        ids = np.zeros(len(kinds), np.int64)
        ids[~is_run] = intern_kinds(self._connection, self._capture, *(column[~is_run] for column in key))
        self._kind_stacks = np.concatenate([self._kind_stacks, stack])
        self._kind_boundaries = np.concatenate([self._kind_boundaries, boundary])
        self._kind_ids = np.concatenate([self._kind_ids, ids])

    def _read_kind(self, kind: int) -> _CallKind:
        """Return a row of `call_kinds`."""
        if kind not in self._kind_rows:
            query = (
                "SELECT s.id, s.leaf, s.python_leaf, s.site_leaf, k.boundary, k.thread FROM call_kinds k"
                " JOIN stacks s ON s.id = k.stack WHERE k.id = ?"
            )
            *stack, boundary, thread = self._connection.execute(query, (kind,)).fetchone()
            self._kind_rows[kind] = _CallKind(StackRow(*stack), boundary, thread)
        return self._kind_rows[kind]

    # Runs of FFI handlers

    def _add_runs(self, batch: CallBatch, runs: Integers, kind: Integers) -> None:
        """Join the handler runs of a batch to their sites, and set their kinds in `kind`."""
        key = (batch.kind[runs] << 32) | batch.argument[runs]
        pairs, first_run, pair_of_run = np.unique(key, return_index=True, return_inverse=True)
        # In order of arrival, so that the result does not depend on batch boundaries.
        in_order = {
            position: self._join_run(int(pairs[position]) >> 32, int(pairs[position]) & _LOW_BITS)
            for position in np.argsort(first_run)
        }
        found = [in_order[position] for position in range(len(pairs))]
        kind[runs] = np.array([row for row, _ in found], np.int64)[pair_of_run]
        joined = ((row, found[position][1]) for row, position in zip(runs.tolist(), pair_of_run.tolist(), strict=True))
        first = self._first + batch.first
        self._ffi.add_runs((first + row, join) for row, join in joined if join is not None)

    def _join_run(self, stream_kind: int, argument: int) -> tuple[int, int | None]:
        """Return the kind and the join of a handler run."""
        kind = self._run_kinds[stream_kind]
        (text,) = self.read_argument_texts(np.array([argument]))
        join, site = self._ffi.join_run(kind.function, text)
        self._ffi.register_handler(self._stacks.find_entry_frame(kind.stack))
        stack = self._stacks.find_row(kind.stack, site)
        boundary, thread = self._boundaries[kind.function], self._threads[kind.thread]
        row = intern_kind(self._connection, self._capture, stack.id, boundary, thread, kind.error)
        self._add_sample(row, int(self._argument_ids[argument]))
        return row, join

    # The parts of a batch

    def _insert_rows(self, ids: Integers, kind: Integers, batch: CallBatch) -> None:
        inside = np.where(batch.inside == 0, NULL, batch.inside)
        columns = (ids, kind, inside, batch.start, batch.duration, self._argument_ids[batch.argument])
        insert = "INSERT INTO call_rows(id, kind, inside, start, duration, arguments)"
        copy_rows(self._connection, insert, columns)

    def _add_totals(self, batch: CallBatch, kind: Integers) -> None:
        rows = self._kind_ids[batch.totals.kind]
        totals = batch.totals[rows > 0]
        calls = (self._first + column for column in (totals.longest_call, totals.first_call, totals.latest_call))
        added = KindTotals(rows[rows > 0], *totals.columns[1:5], *calls)
        add_to_kinds(self._connection, added)
        has_calls = totals.calls != 0
        stack, leaves = self._kind_stacks[totals.kind[has_calls]], self._stacks.leaves
        of_stack = [column[stack] for column in (self._stacks.ids, leaves.leaf, leaves.python_leaf, leaves.site_leaf)]
        self._add_items(added[has_calls], *of_stack, self._kind_boundaries[totals.kind[has_calls]])
        if len(added.kind) < len(rows):
            runs = self._sum_runs(batch, kind, batch.totals.kind[rows == 0], batch.totals.own_duration[rows == 0])
            self._add_to_kinds(list(runs))

    def _add_to_kinds(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Add totals to kinds. The rows have the fields of `KindTotals`."""
        added = KindTotals(*np.array(rows, np.int64).reshape(-1, 8).T)
        add_to_kinds(self._connection, added)
        with_calls = added[added.calls != 0]
        kinds = map(self._read_kind, with_calls.kind.tolist())
        of_stack = [(*each.stack, each.boundary) for each in kinds]
        self._add_items(with_calls, *np.array(of_stack, np.int64).reshape(-1, 5).T)

    def _add_items(self, added: KindTotals, *stack_and_boundary: Integers) -> None:
        self._items.append(np.stack([*stack_and_boundary, added.calls, added.duration, added.latest_call]))

    def _sum_runs(
        self, batch: CallBatch, kind: Integers, stream_kinds: Integers, own: Integers
    ) -> Iterator[tuple[int, ...]]:
        """Yield rows for `_add_to_kinds`, one for each stored kind of the batch's handler runs."""
        duration = np.maximum(batch.duration, 0)
        of_call = duration.copy()
        parent = np.arange(len(batch)) - batch.inside
        here = np.flatnonzero((batch.inside > 0) & (parent >= 0))
        np.subtract.at(of_call, parent[here], duration[here])
        runs = np.flatnonzero(np.isin(batch.kind, stream_kinds))
        for row in np.unique(kind[runs]).tolist():
            calls = runs[kind[runs] == row]
            longest = calls[len(calls) - 1 - int(np.argmax(duration[calls][::-1]))]
            first = self._first + batch.first
            yield (
                *(row, len(calls), int(duration[calls].sum()), int(of_call[calls].sum()), int(duration[longest])),
                *(first + int(longest), first + int(calls[0]), first + int(calls[-1])),
            )
        if int(own.sum()) != int(of_call[runs].sum()):
            yield from self._own_time_of_earlier_runs(batch, parent, duration)

    def _own_time_of_earlier_runs(
        self, batch: CallBatch, parent: Integers, duration: Integers
    ) -> Iterator[tuple[int, ...]]:
        """Yield the time of this batch's calls, to subtract it from enclosing handler runs of earlier batches."""
        for position in np.flatnonzero((batch.inside > 0) & (parent < 0)).tolist():
            query = "SELECT kind FROM call_rows WHERE id = ?"
            row = self._connection.execute(query, (self._first + batch.first + int(parent[position]),)).fetchone()
            if row is not None and self._is_run[self._boundaries.index(self._read_kind(row[0]).boundary)]:
                yield row[0], 0, 0, -int(duration[position]), 0, 0, 0, 0

    def _add_spans(self, batch: CallBatch, kind: Integers, runs: Integers) -> None:
        spans = batch.spans.reshape(-1, 3)
        row = self._kind_ids[spans[:, 0]]
        calls = runs + batch.first
        of_runs = np.stack([kind[runs], calls, calls], axis=1).astype(np.int64)
        found = _merge_spans(np.concatenate([np.stack([row, spans[:, 1], spans[:, 2]], axis=1)[row > 0], of_runs]))
        # An earlier batch may have written the start of the span in which this batch begins.
        is_new = found[:, 1] // SPAN_SIZE > (batch.first - 1) // SPAN_SIZE
        found[:, 1:] += self._first
        new = found[is_new]
        stage_rows(self._connection, [np.arange(len(new)), *new.T])
        self._connection.execute(f"INSERT INTO call_spans SELECT c1, c2, c3 FROM {STAGED_ROWS}")
        for each in found[~is_new].tolist():
            self._extend_span(*each)

    def _extend_span(self, kind: int, first: int, last: int) -> None:
        """Extend the stored span of a kind by a range of calls within one span."""
        begin = self._first + (first - self._first) // SPAN_SIZE * SPAN_SIZE
        query = "SELECT first_call, last_call FROM call_spans WHERE kind = ? AND first_call BETWEEN ? AND ?"
        known = self._connection.execute(query, (kind, begin, begin + SPAN_SIZE - 1)).fetchone()
        if known is not None:
            self._connection.execute("DELETE FROM call_spans WHERE kind = ? AND first_call = ?", (kind, known[0]))
            first, last = min(first, known[0]), max(last, known[1])
        self._connection.execute("INSERT INTO call_spans VALUES (?, ?, ?)", (kind, first, last))

    def _add_durations(self, batch: CallBatch) -> None:
        rows = batch.durations.reshape(-1, 4).tolist()
        self._add_to_buckets(
            (self._boundaries[function], self._threads[thread], bucket, calls)
            for function, thread, bucket, calls in rows
        )

    def _add_to_buckets(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        self._connection.executemany(
            f"INSERT INTO call_durations VALUES ({self._capture}, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET calls = calls + excluded.calls",
            rows,
        )

    def _add_samples(self, batch: CallBatch) -> None:
        kind, argument = batch.samples.reshape(-1, 2).T
        is_other = self._kind_ids[kind] > 0
        stack, boundary = (column[kind[is_other]] for column in (self._kind_stacks, self._kind_boundaries))
        self._samples.append(np.stack([self._stacks.ids[stack], boundary, self._argument_ids[argument[is_other]]]))

    def _add_sample(self, kind: int, argument: int) -> None:
        found = self._read_kind(kind)
        self._samples.append(np.array([[found.stack.id], [found.boundary], [argument]]))

    # Calls that returned after they were written

    def _update_returned_call(self, row: int, stream_kind: int, duration: int, argument: int) -> None:
        call = self._first + row
        (old,) = self._connection.execute("SELECT kind FROM call_rows WHERE id = ?", (call,)).fetchone()
        new = self.find_kind_id(stream_kind)
        if not new:
            new, join = self._join_run(stream_kind, argument)
            self._ffi.add_runs([(call, join)] if join is not None else [])
        self._connection.execute(
            "UPDATE call_rows SET kind = ?, duration = ?, arguments = ? WHERE id = ?",
            (new, duration, int(self._argument_ids[argument]), call),
        )
        self._extend_span(new, call, call)
        self._add_to_kinds([(old, -1, 0, 0, 0, 0, call, 0), (new, 1, duration, 0, duration, call, call, call)])
        self._connection.execute(RECOMPUTE_KIND, (old,))
        self._add_sample(new, int(self._argument_ids[argument]))
        found = self._read_kind(new)
        self._add_to_buckets([(found.boundary, found.thread, convert_duration_to_bucket(duration), 1)])


def _merge_spans(spans: Integers) -> Integers:
    """Return the spans, and merge the spans of one kind within the same SPAN calls."""
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    spans = spans[order]
    block = spans[:, 1] // SPAN_SIZE
    is_first = np.ones(len(spans), np.bool_)
    is_first[1:] = (spans[1:, 0] != spans[:-1, 0]) | (block[1:] != block[:-1])
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return spans
    last = np.maximum.reduceat(spans[:, 2], starts)
    joined: Integers = np.stack([spans[starts, 0], spans[starts, 1], last], axis=1)
    return joined
