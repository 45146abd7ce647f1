"""Write the transfers of a capture's calls between host and devices, by their kinds."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from framedex.index.write.bulk import NULL
from framedex.index.write.calls import CallWriter
from framedex.index.write.costs.pieces import LARGEST
from framedex.index.write.costs.transfer_ways import way_of
from framedex.index.write.records import CaptureRecord
from framedex.index.write.tree import Integers
from framedex.model import CallBatch
from framedex.objects.moves import MOVES, Move

_ALLOCATE = "DeviceMemory::Allocate"  # of the mock TPU
_NOTHING_WANTED = '"dst": null'  # `PJRT_Buffer_ToHostBuffer` was only queried for the size
_ADD = (
    "UPDATE transfers SET calls = calls + ?2, duration = duration + ?3, sized = sized + ?4, bytes = bytes + ?5,"
    " first_call = min(first_call, ?6), latest_call = max(latest_call, ?7) WHERE kind = ?1"
)


class TransferWriter:
    """Writes the transfers of one capture. Its calls begin at the id `first`."""

    def __init__(self, connection: sqlite3.Connection, capture: int, first: int, record: CaptureRecord) -> None:
        self._connection = connection
        self._capture = capture
        self._first = first
        self._record = record
        self._moves: list[Move | None] = []  # of each kind of the stream; None: not a transfer
        self._allocates: list[bool] = []  # of each kind of the stream
        # For the mock TPU's allocations in the last two batches: the enclosing call, and the arguments.
        self._allocations = [np.empty((2, 0), np.int64)] * 2
        query = "SELECT kind FROM transfers WHERE capture = ?"
        self._known = {kind for (kind,) in connection.execute(query, (capture,))}

    def meet(self, batch: CallBatch) -> None:
        """Read the kinds of a written batch, which later batches refer to."""
        for kind in batch.kinds:
            name = self._record.capture.functions[kind.function].name
            self._moves.append(MOVES.get(name) if kind.error == 0 else None)
            self._allocates.append(name == _ALLOCATE and kind.error == 0)

    def extend(self, record: CaptureRecord) -> None:
        """Continue with a capture that has more functions."""
        self._record = record

    def add(self, batch: CallBatch, kinds: Integers, calls: CallWriter) -> None:
        """Write the transfers of a batch, whose calls and objects must be written.

        `kinds` are the kinds of its calls.
        """
        self.meet(batch)
        moves = np.array([move is not None for move in self._moves], bool)
        rows = np.flatnonzero(moves[batch.kind])
        changed = batch.changed.reshape(-1, 4)
        changed = changed[moves[changed[:, 1]]]  # returned after they were written
        self._add_calls(
            _Calls(
                row=np.concatenate([batch.first + rows, changed[:, 0]]),
                stream_kind=np.concatenate([batch.kind[rows], changed[:, 1]]),
                kind=np.concatenate([kinds[rows], [calls.kind_of(kind) for kind in changed[:, 1].tolist()]]),
                duration=np.concatenate([np.maximum(batch.duration[rows], 0), changed[:, 2]]),
                argument=np.concatenate([batch.argument[rows], changed[:, 3]]),
            ),
            calls,
        )
        self._add_sizes_of_copies(batch, calls)

    def _add_calls(self, found: _Calls, calls: CallWriter) -> None:
        if not len(found.row):
            return
        numbers, of_call = np.unique(found.argument, return_inverse=True)
        texts = calls.texts(numbers)
        is_wanted = np.array([_NOTHING_WANTED not in text for text in texts], bool)[of_call]
        for stream_kind in np.unique(found.stream_kind).tolist():
            move = self._moves[stream_kind]
            assert move is not None
            of_kind = np.flatnonzero((found.stream_kind == stream_kind) & is_wanted)
            if not len(of_kind):
                continue
            used, of_used = np.unique(of_call[of_kind], return_inverse=True)
            size = _sizes([texts[number] for number in used.tolist()], move.size)[of_used]
            row = found.row[of_kind]
            self._add_to_kind(
                int(found.kind[of_kind[0]]),
                move,
                (len(of_kind), int(found.duration[of_kind].sum()), int((size >= 0).sum()), int(size[size >= 0].sum())),
                (self._first + int(np.min(row)), self._first + int(np.max(row))),
            )

    def _add_to_kind(
        self, kind: int, move: Move, sums: tuple[int, int, int, int], first_and_latest: tuple[int, int]
    ) -> None:
        if kind not in self._known:
            self._known.add(kind)
            query = "SELECT stack FROM call_kinds WHERE id = ?"
            (stack,) = self._connection.execute(query, (kind,)).fetchone()
            way = way_of(self._connection, stack, move.direction)
            self._connection.execute(
                "INSERT INTO transfers(kind, capture, direction, how, is_implicit, calls, duration, sized, bytes,"
                " first_call, latest_call) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?)",
                (kind, self._capture, move.direction.value, way.how, way.is_implicit, *first_and_latest),
            )
        self._connection.execute(_ADD, (kind, *sums, *first_and_latest))

    # Copies between devices: their size is the size of the new buffer

    def _add_sizes_of_copies(self, batch: CallBatch, calls: CallWriter) -> None:
        made = np.flatnonzero(np.array(self._allocates, bool)[batch.kind] & (batch.inside > 0) & (batch.argument >= 0))
        allocated = np.stack([batch.first + made - batch.inside[made], batch.argument[made]])
        self._allocations = [self._allocations[-1], allocated]
        objects = batch.objects
        if "buffer" not in batch.types or not len(objects.place):
            return
        copies = np.array([move is not None and not move.size for move in self._moves], bool)
        is_new = (objects.type == batch.types.index("buffer")) & (objects.created_kind >= 0)
        is_copy = np.flatnonzero(is_new & copies[np.maximum(objects.created_kind, 0)])
        told = self._allocated(objects.created_call[is_copy[objects.size[is_copy] < 0]], calls)
        sizes: dict[int, list[int]] = {}
        for place in is_copy.tolist():
            size = int(objects.size[place])
            size = size if size >= 0 else told.get(int(objects.created_call[place]), -1)
            if 0 <= size <= LARGEST:
                sizes.setdefault(calls.kind_of(int(objects.created_kind[place])), []).append(size)
        self._connection.executemany(
            "UPDATE transfers SET sized = sized + ?, bytes = bytes + ? WHERE kind = ?",
            [(len(of_kind), sum(of_kind), kind) for kind, of_kind in sizes.items()],
        )

    def _allocated(self, rows: Integers, calls: CallWriter) -> Mapping[int, int]:
        """Return the size of the mock TPU's first allocation in each of these calls, in bytes, if there is one."""
        call, argument = np.concatenate(self._allocations, axis=1)
        found = np.flatnonzero(np.isin(call, rows))[::-1]
        return dict(zip(call[found].tolist(), _sizes(calls.texts(argument[found]), "bytes").tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Calls:
    """Calls in columns: rows of the capture's calls, their kinds in the stream and in the index, durations in ns."""

    row: Integers
    stream_kind: Integers
    kind: Integers
    duration: Integers
    argument: Integers


def _sizes(texts: Iterable[str], name: str) -> Integers:
    """Return the bytes in arguments under this name; NULL if missing."""
    pattern = re.compile(rf'"{re.escape(name)}": (\d{{1,14}})[,}}]') if name else None
    told = [pattern.search(text) if pattern else None for text in texts]
    sizes = np.array([int(each[1]) if each else NULL for each in told], np.int64)
    return np.where(sizes <= LARGEST, sizes, NULL)


def forget_transfers(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the transfers of a capture."""
    connection.execute("DELETE FROM transfers WHERE capture = ?", (capture,))
