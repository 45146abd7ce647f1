"""Write the runtime objects that the calls of a capture use."""

from __future__ import annotations

import sqlite3

import numpy as np

from framedex.index.write.bulk_rows import NULL, Integers, copy_rows
from framedex.index.write.calls import CallWriter
from framedex.model import CallBatch, ObjectColumns
from framedex.programs.objects import ViolationKind

_VIOLATION_KINDS = [kind.value for kind in ViolationKind]

_INSERT = (
    "INSERT INTO object_rows(id, type, number, address, born, created_call, first_call, last_call, deleted_call,"
    " destroyed_call, uses, client, size)"
)
_ON_CONFLICT_UPDATE = (
    "WHERE true ON CONFLICT(id) DO UPDATE SET number = excluded.number, created_call = excluded.created_call,"
    " first_call = excluded.first_call, last_call = excluded.last_call, deleted_call = excluded.deleted_call,"
    " destroyed_call = excluded.destroyed_call, uses = excluded.uses, client = excluded.client, size = excluded.size"
)


class ObjectWriter:
    """Writes the objects of one capture, whose calls begin at the id `first`."""

    def __init__(self, connection: sqlite3.Connection, capture: int, first: int) -> None:
        self._connection = connection
        self._capture = capture
        self._first = first
        query = "SELECT first_object, last_object FROM object_ranges WHERE capture = ? ORDER BY first_object"
        self._ranges = [list(row) for row in connection.execute(query, (capture,))]
        self._count = sum(last - first + 1 for first, last in self._ranges)

    def add(self, batch: CallBatch, calls: CallWriter) -> None:
        """Write the objects of a batch and their violations. The calls of the batch must be written."""
        objects = batch.objects
        if len(objects.place):
            self._reserve_ids(int(np.max(objects.place)) + 1 - self._count)
            types = np.zeros(len(batch.types), np.int64)
            for position in dict.fromkeys(objects.type.tolist()):
                types[position] = self._intern_type(batch.types[position])
            self._write_objects(objects, types[objects.type])
            self._count_created(objects, types[objects.type], calls)
        self._connection.executemany(
            "UPDATE object_rows SET number = ? WHERE id = ?",
            zip(batch.numbers[:, 1].tolist(), self._object_ids(batch.numbers[:, 0]).tolist(), strict=True),
        )
        violations = batch.violations.reshape(-1, 4)
        self._connection.executemany(
            "INSERT INTO violations(kind, object, call, earlier_call) VALUES (?, ?, ?, ?)",
            [
                (
                    _VIOLATION_KINDS[kind],
                    int(position),
                    self._first + call,
                    None if earlier < 0 else self._first + earlier,
                )
                for (kind, _, call, earlier), position in zip(
                    violations.tolist(), self._object_ids(violations[:, 1]), strict=True
                )
            ],
        )

    def _reserve_ids(self, count: int) -> None:
        """Reserve ids for this many objects, after all reserved ids, because another writer may have reserved some."""
        if count <= 0:
            return
        query = "SELECT coalesce(max(last_object), 0) + 1 FROM object_ranges"
        first = self._connection.execute(query).fetchone()[0]
        if self._ranges and self._ranges[-1][1] + 1 == first:
            self._ranges[-1][1] += count
        else:
            self._ranges.append([first, first + count - 1])
        self._connection.execute(
            "INSERT OR REPLACE INTO object_ranges VALUES (?, ?, ?)", (self._capture, *self._ranges[-1])
        )
        self._count += count

    def _object_ids(self, numbers: Integers) -> Integers:
        """Return the ids of objects by their numbers in the capture."""
        ranges = np.array(self._ranges, np.int64).reshape(-1, 2)
        begins = np.cumsum(np.concatenate([[0], ranges[:, 1] - ranges[:, 0] + 1]))[:-1]
        of_range = np.searchsorted(begins, numbers, side="right") - 1
        found: Integers = ranges[of_range, 0] + numbers - begins[of_range]
        return found

    def _intern_type(self, name: str) -> int:
        key = (self._capture, name)
        self._connection.execute("INSERT OR IGNORE INTO object_types(capture, name) VALUES (?, ?)", key)
        query = "SELECT id FROM object_types WHERE capture = ? AND name = ?"
        return int(self._connection.execute(query, key).fetchone()[0])

    def _write_objects(self, objects: ObjectColumns, types: Integers) -> None:
        def call_id(rows: Integers) -> Integers:
            return np.where(rows < 0, NULL, rows + self._first)

        columns = (
            *(self._object_ids(objects.place), types, objects.number, objects.address, objects.born),
            *map(call_id, (objects.created_call, objects.first_call, objects.last_call)),
            *map(call_id, (objects.deleted_call, objects.destroyed_call)),
            *(objects.uses, np.where(objects.client < 0, NULL, self._object_ids(np.maximum(objects.client, 0)))),
            np.where(objects.size < 0, NULL, objects.size),
        )
        copy_rows(self._connection, _INSERT, columns, _ON_CONFLICT_UPDATE)

    def _count_created(self, objects: ObjectColumns, types: Integers, calls: CallWriter) -> None:
        is_new = objects.created_kind >= 0
        pairs, counts = np.unique(
            np.stack([types[is_new], objects.created_kind[is_new]], axis=1), axis=0, return_counts=True
        )
        self._connection.executemany(
            "INSERT INTO created_objects VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET objects = objects + excluded.objects",
            [
                (kind_of_object, calls.find_kind_id(kind), count)
                for (kind_of_object, kind), count in zip(pairs.tolist(), counts.tolist(), strict=True)
            ],
        )


def delete_objects(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the objects of a capture."""
    query = "SELECT first_object, last_object FROM object_ranges WHERE capture = ?"
    for span in connection.execute(query, (capture,)).fetchall():
        for table, column in (("violations", "object"), ("object_rows", "id")):
            connection.execute(f"DELETE FROM {table} WHERE {column} BETWEEN ? AND ?", span)
    types = "type IN (SELECT id FROM object_types WHERE capture = ?)"
    connection.execute(f"DELETE FROM created_objects WHERE {types}", (capture,))
    for table in ("object_types", "object_ranges"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))
