"""Pieces of device memory in columns, and the queries for a capture's calls that find them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.tree import Integers

FOREVER = np.iinfo(np.int64).max

LARGEST = 1 << 44
"""The maximum believed size of a piece or a transfer, in bytes.

It is the memory of a mock device (docs/reference/mock-tpu.md). A damaged capture may contain any number. Half a million
of these sizes still sum up within 64 bits.
"""

OBJECTS = (
    "object_types t JOIN object_ranges r ON r.capture = t.capture"
    " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
)
"""The objects `o` of a capture, `t.capture`, each with its type: the FROM of a query."""

ENDS = (
    "call_rows d ON d.id = min(coalesce(o.deleted_call, o.destroyed_call), coalesce(o.destroyed_call, o.deleted_call))"
)
"""The call `d` that deleted or destroyed the object `o`, whichever came first: a JOIN of a query."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of memory in columns; times in ns since the recording began, sizes in bytes.

    A piece that is handed over, as a donated buffer's is, is one row before the handover and another after it. `device`
    is an index into `devices`. `made` is the call that allocated or received a piece. `by`, of this `kind`, is the call
    that recorded it and has its stack; 0 for memory from before the recording. `died` is the time of its release or
    handover. `let_go` is the time when the program deleted it, which is earlier if a run still read it. `unsized`
    counts by device the buffers that are in no column because their size is unknown.
    """

    devices: tuple[str, ...]
    device: Integers
    size: Integers
    born: Integers
    died: Integers
    let_go: Integers
    made: Integers
    by: Integers
    kind: Integers
    unsized: tuple[int, ...]


def columns(rows: Iterable[tuple[Any, ...]], count: int) -> list[Integers]:
    """Return rows of `count` integers each, as columns."""
    row: np.dtype[Any] = np.dtype((np.int64, count))
    return list(np.fromiter(rows, row).reshape(-1, count).T)


def kinds_of(connection: sqlite3.Connection, capture: int, functions: Iterable[str]) -> dict[int, str]:
    """Return the kinds of the successful calls of these functions, each with its function."""
    query = (
        "SELECT k.id, b.name FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        f" WHERE k.capture = ? AND k.error = 0 AND b.name {IN_JSON}"
    )
    return dict(connection.execute(query, (capture, json_list(functions))))


def arguments_of(connection: sqlite3.Connection, arguments: Integers) -> dict[int, dict[str, Any]]:
    """Return the recorded arguments with these numbers."""
    query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
    wanted = json_list(np.unique(arguments).tolist())
    return {number: json.loads(text) for number, text in connection.execute(query, (wanted,))}


def highest_of_parts(values: Integers, parts: int) -> Integers:
    """Return the index of the highest value in each of `parts` equal parts; all indices if there are no more values."""
    if len(values) <= parts:
        return np.arange(len(values))
    bounds = np.linspace(0, len(values), parts + 1, dtype=np.int64)
    return np.array([begin + int(np.argmax(values[begin:end])) for begin, end in pairwise(bounds.tolist())])
