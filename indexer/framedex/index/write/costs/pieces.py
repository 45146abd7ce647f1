"""Pieces of device memory in columns, and what is asked of a capture's calls to find them."""

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
"""Bytes of a device of the mock (docs/reference/mock-tpu.md), and of a piece or a transfer that is believed: a damaged
capture may tell anything, and sums of half a million of these are 64 bits."""

OBJECTS = (
    "object_types t JOIN object_ranges r ON r.capture = t.capture"
    " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
)
"""The objects `o` of a capture, `t.capture`, each with its type: what a query is FROM."""

ENDS = (
    "call_rows d ON d.id = min(coalesce(o.deleted_call, o.destroyed_call), coalesce(o.destroyed_call, o.deleted_call))"
)
"""The call `d` that deleted or destroyed the object `o`, whichever came first: what is joined to a query."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of memory in columns; times in ns since the recording began, sizes in bytes.

    A piece that is handed over, as a donated buffer's is, is one row until then and another from then on. `device` is a
    place in `devices`. `made` is the call that had a piece made or was given it, and `by`, of this `kind`, the one that
    tells so, whose stack is looked at: 0 where it was there before the recording. `died` is when it was given back or
    handed over, `let_go` when the program had done with it: earlier where a run still read it. `unsized` counts by
    device the buffers that are in no column.
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
    """Rows of so many integers each, as columns."""
    row: np.dtype[Any] = np.dtype((np.int64, count))
    return list(np.fromiter(rows, row).reshape(-1, count).T)


def kinds_of(connection: sqlite3.Connection, capture: int, functions: Iterable[str]) -> dict[int, str]:
    """The kinds of the calls of these functions that ended well, each with its function."""
    query = (
        "SELECT k.id, b.name FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        f" WHERE k.capture = ? AND k.error = 0 AND b.name {IN_JSON}"
    )
    return dict(connection.execute(query, (capture, json_list(functions))))


def arguments_of(connection: sqlite3.Connection, arguments: Integers) -> dict[int, dict[str, Any]]:
    """What is recorded under these numbers."""
    query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
    wanted = json_list(np.unique(arguments).tolist())
    return {number: json.loads(text) for number, text in connection.execute(query, (wanted,))}


def highest_of_parts(values: Integers, parts: int) -> Integers:
    """Where the highest value is of each of so many parts of equal lengths; everywhere if there are no more values."""
    if len(values) <= parts:
        return np.arange(len(values))
    bounds = np.linspace(0, len(values), parts + 1, dtype=np.int64)
    return np.array([begin + int(np.argmax(values[begin:end])) for begin, end in pairwise(bounds.tolist())])
