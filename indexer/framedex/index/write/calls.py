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
from framedex.index.write.bulk_rows import NULL, copy_rows
from framedex.index.write.chain_totals import StackTotals
from framedex.index.write.ffi import FfiWriter
from framedex.index.write.stacks import ADD_TO_KIND, RECOMPUTE_KIND, StackRow, StackRows, intern_kind
from framedex.index.write.tree import Integers
from framedex.model import CallBatch, CallKind

_LOW_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _CallKind:
    """A row of `call_kinds`, with the leaves of its stack."""

    id: int
    stack: StackRow
    boundary: int
    thread: int
    error: int


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
        self._stream_kinds: list[CallKind] = []
        self._kinds: dict[tuple[int, int, int, int], _CallKind] = {}  # (stack, boundary, thread, error)
        self._kinds_by_id: dict[int, _CallKind] = {}
        self._kind_ids = np.zeros(0, np.int64)  # rows of `call_kinds` by the stream's kinds; 0 for runs of FFI handlers
        self._argument_ids = self._read_argument_ids()
        self._items: dict[tuple[int, int], list[int]] = {}
        self._samples: dict[tuple[int, int, int], None] = {}  # (stack, boundary, argument)

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

    def take_items(self) -> tuple[StackTotals, list[tuple[int, int, int]]]:
        """Return and clear the items and samples added since the previous call, by stack and boundary function."""
        rows = []
        for (stack, boundary), (kind, calls, duration, latest) in self._items.items():
            leaves = self._kinds_by_id[kind].stack
            rows.append((stack, leaves.leaf, leaves.python_leaf, leaves.site_leaf, boundary, calls, duration, latest))
        rows.sort(key=lambda row: (row[0], row[4]))
        (run,) = self._connection.execute("SELECT run FROM captures WHERE id = ?", (self._capture,)).fetchone()
        items, samples = StackTotals.from_run_rows(run, rows), sorted(self._samples)
        self._items, self._samples = {}, {}
        return items, samples

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
        self._stream_kinds.extend(kinds)
        ids = [
            0 if self._is_run[kind.function] else self._intern_kind(kind, self._stacks.find_row(kind.stack)).id
            for kind in kinds
        ]
        self._kind_ids = np.concatenate([self._kind_ids, np.array(ids, np.int64)])

    def _intern_kind(self, kind: CallKind, stack: StackRow) -> _CallKind:
        """Return the row of a kind with this stack, adding it if missing."""
        boundary, thread = self._boundaries[kind.function], self._threads[kind.thread]
        key = stack.id, boundary, thread, kind.error
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = _CallKind(intern_kind(self._connection, self._capture, *key), stack, *key[1:])
            self._kinds_by_id[found.id] = found
        return found

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
        kind[runs] = np.array([row.id for row, _ in found], np.int64)[pair_of_run]
        joined = ((row, found[position][1]) for row, position in zip(runs.tolist(), pair_of_run.tolist(), strict=True))
        first = self._first + batch.first
        self._ffi.add_runs((first + row, join) for row, join in joined if join is not None)

    def _join_run(self, stream_kind: int, argument: int) -> tuple[_CallKind, int | None]:
        """Return the kind and the join of a handler run."""
        kind = self._stream_kinds[stream_kind]
        (text,) = self.read_argument_texts(np.array([argument]))
        join, site = self._ffi.join_run(kind.function, text)
        self._ffi.register_handler(self._stacks.find_entry_frame(kind.stack))
        row = self._intern_kind(kind, self._stacks.find_row(kind.stack, site))
        self._add_sample(row.id, int(self._argument_ids[argument]))
        return row, join

    # The parts of a batch

    def _insert_rows(self, ids: Integers, kind: Integers, batch: CallBatch) -> None:
        inside = np.where(batch.inside == 0, NULL, batch.inside)
        columns = (ids, kind, inside, batch.start, batch.duration, self._argument_ids[batch.argument])
        insert = "INSERT INTO call_rows(id, kind, inside, start, duration, arguments)"
        copy_rows(self._connection, insert, columns)

    def _add_totals(self, batch: CallBatch, kind: Integers) -> None:
        totals = batch.totals
        rows = self._kind_ids[totals.kind]
        is_other = rows > 0
        columns = (rows, totals.calls, totals.duration, totals.own_duration, totals.longest)
        calls = (totals.longest_call, totals.first_call, totals.latest_call)
        added = [column[is_other].tolist() for column in columns]
        added += [(self._first + column[is_other]).tolist() for column in calls]
        for row in zip(*added, strict=True):
            self._add_to_kind(*row)
        if not np.all(is_other):
            for row in self._sum_runs(batch, kind, totals.kind[~is_other], totals.own_duration[~is_other]):
                self._add_to_kind(*row)

    def _add_to_kind(
        self, kind: int, calls: int, duration: int, own: int, longest: int, longest_call: int, first: int, latest: int
    ) -> None:
        row = (kind, calls, duration, own, longest, longest_call, first, latest)
        if not calls:  # later calls inside it reduce its own time
            self._connection.execute("UPDATE call_kinds SET own_duration = own_duration + ? WHERE id = ?", (own, kind))
            return
        self._connection.execute(ADD_TO_KIND, row)
        self._add_item(kind, calls, duration, latest)

    def _add_item(self, kind: int, calls: int, duration: int, latest: int) -> None:
        found = self._kinds_by_id[kind]
        item = self._items.setdefault((found.stack.id, found.boundary), [kind, 0, 0, latest])
        item[1] += calls
        item[2] += duration
        item[3] = max(item[3], latest)

    def _sum_runs(
        self, batch: CallBatch, kind: Integers, stream_kinds: Integers, own: Integers
    ) -> Iterator[tuple[int, ...]]:
        """Yield rows for `_add_to_kind`, one for each stored kind of the batch's handler runs."""
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
            known = self._kinds_by_id.get(row[0]) if row else None
            if known is not None and self._is_run[self._boundaries.index(known.boundary)]:
                yield known.id, 0, 0, -int(duration[position]), 0, 0, 0, 0

    def _add_spans(self, batch: CallBatch, kind: Integers, runs: Integers) -> None:
        spans = batch.spans.reshape(-1, 3)
        row = self._kind_ids[spans[:, 0]]
        calls = runs + batch.first
        of_runs = np.stack([kind[runs], calls, calls], axis=1).astype(np.int64)
        found = _merge_spans(np.concatenate([np.stack([row, spans[:, 1], spans[:, 2]], axis=1)[row > 0], of_runs]))
        # An earlier batch may have written the start of the span in which this batch begins.
        is_new = found[:, 1] // SPAN_SIZE > (batch.first - 1) // SPAN_SIZE
        found[:, 1:] += self._first
        self._connection.executemany("INSERT INTO call_spans VALUES (?, ?, ?)", found[is_new].tolist())
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
        samples = batch.samples.reshape(-1, 2)
        kinds, arguments = self._kind_ids[samples[:, 0]], self._argument_ids[samples[:, 1]]
        for kind, argument in zip(kinds.tolist(), arguments.tolist(), strict=True):
            if kind:
                self._add_sample(kind, argument)

    def _add_sample(self, kind: int, argument: int) -> None:
        found = self._kinds_by_id[kind]
        self._samples[found.stack.id, found.boundary, argument] = None

    # Calls that returned after they were written

    def _update_returned_call(self, row: int, stream_kind: int, duration: int, argument: int) -> None:
        call = self._first + row
        (old,) = self._connection.execute("SELECT kind FROM call_rows WHERE id = ?", (call,)).fetchone()
        new = self.find_kind_id(stream_kind)
        if not new:
            kind, join = self._join_run(stream_kind, argument)
            new = kind.id
            self._ffi.add_runs([(call, join)] if join is not None else [])
        self._connection.execute(
            "UPDATE call_rows SET kind = ?, duration = ?, arguments = ? WHERE id = ?",
            (new, duration, int(self._argument_ids[argument]), call),
        )
        self._extend_span(new, call, call)
        self._add_to_kind(old, -1, 0, 0, 0, 0, call, 0)
        self._connection.execute(RECOMPUTE_KIND, (old,))
        self._add_to_kind(new, 1, duration, 0, duration, call, call, call)
        self._add_sample(new, int(self._argument_ids[argument]))
        found = self._kinds_by_id[new]
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
