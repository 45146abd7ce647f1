"""Pieces of device memory as columns, and the queries that the cost modules share."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.write.bulk_rows import Integers

FOREVER = np.iinfo(np.int64).max

MAX_BYTES = 1 << 44
"""The maximum plausible size of a piece or a transfer, because a damaged capture may contain any number.

The value is the memory size of a mock device (docs/reference/mock-tpu.md). The sum of half a million such sizes fits
into 64 bits.
"""

OBJECTS_FROM = (
    "object_types t JOIN object_ranges r ON r.capture = t.capture"
    " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
)
"""The FROM clause for the objects `o` of a capture `t.capture`, each with its type `t`."""

END_CALL_JOIN = (
    "call_rows d ON d.id = min(coalesce(o.deleted_call, o.destroyed_call), coalesce(o.destroyed_call, o.deleted_call))"
)
"""The JOIN clause for the call `d` that deleted or destroyed the object `o`, whichever came first."""


@dataclass(frozen=True, slots=True)
class MemoryPieces:
    """Pieces of memory in columns; times in ns since the recording began, sizes in bytes.

    A piece that is handed over, such as a donated buffer's, is one row before the handover and another after it.
    `device` is an index into `devices`. `allocated_by` is the call that allocated or received a piece. `recorded_in`,
    of this `kind`, is the call that recorded the piece and has its stack; 0 for memory from before the recording.
    `released_at` is the time of the release or handover. `deleted_at` is the time when the program deleted the piece,
    which is earlier if a run still read it. `program` is the call that compiled the program whose temporaries or code a
    piece is; 0 for a buffer. `unsized` counts by device the buffers that are left out because their size is unknown.
    """

    devices: tuple[str, ...]
    device: Integers
    size: Integers
    allocated_at: Integers
    released_at: Integers
    deleted_at: Integers
    allocated_by: Integers
    recorded_in: Integers
    kind: Integers
    program: Integers
    unsized: tuple[int, ...]

    def join(self, other: MemoryPieces) -> MemoryPieces:
        """Return these pieces and those of other devices."""
        return MemoryPieces(
            devices=self.devices + other.devices,
            device=np.append(self.device, other.device + len(self.devices)),
            size=np.append(self.size, other.size),
            allocated_at=np.append(self.allocated_at, other.allocated_at),
            released_at=np.append(self.released_at, other.released_at),
            deleted_at=np.append(self.deleted_at, other.deleted_at),
            allocated_by=np.append(self.allocated_by, other.allocated_by),
            recorded_in=np.append(self.recorded_in, other.recorded_in),
            kind=np.append(self.kind, other.kind),
            program=np.append(self.program, other.program),
            unsized=self.unsized + other.unsized,
        )


def read_columns(rows: Iterable[tuple[Any, ...]], count: int) -> list[Integers]:
    """Return rows of `count` integers each, as columns."""
    return list(np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, count).T)


def find_kinds_by_function(connection: sqlite3.Connection, capture: int, functions: Iterable[str]) -> dict[int, str]:
    """Return the kinds of successful calls of these functions, each with its function."""
    query = (
        "SELECT k.id, b.name FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        f" WHERE k.capture = ? AND k.error = 0 AND b.name {IN_JSON}"
    )
    return dict(connection.execute(query, (capture, build_json_list(functions))))


def read_arguments(connection: sqlite3.Connection, arguments: Integers) -> dict[int, dict[str, Any]]:
    """Return the recorded arguments with these numbers."""
    query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
    ids = build_json_list(np.unique(arguments).tolist())
    return {number: json.loads(text) for number, text in connection.execute(query, (ids,))}


def select_peaks(values: Integers, parts: int) -> Integers:
    """Return the index of the highest value in each of `parts` equal parts; all indices if there are few values."""
    if len(values) <= parts:
        return np.arange(len(values))
    bounds = np.linspace(0, len(values), parts + 1, dtype=np.int64)
    return np.array([begin + int(np.argmax(values[begin:end])) for begin, end in pairwise(bounds.tolist())])
