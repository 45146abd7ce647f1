"""Write the live memory of a capture's devices, computed once all its calls are written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.costs.activity import Activity
from framedex.index.write.costs.allocations import pieces_of_allocator
from framedex.index.write.costs.buffers import pieces_of_buffers
from framedex.index.write.costs.growth import Growth
from framedex.index.write.costs.memory_lines import LineOf
from framedex.index.write.costs.pieces import FOREVER, Pieces, arguments_of, columns, highest_of_parts
from framedex.index.write.tree import Integers

POINTS = 2_000
"""The maximum number of stored points of a device's memory over time."""

MOST_FAILURES = 100
"""The maximum number of stored out-of-memory failures of a capture: the first ones."""

MOST_HELD = 20
"""The maximum number of stored lines with live memory at such a failure."""

_TABLES = ("memory_devices", "memory_points", "memory_lines", "memory_failures")
_EXHAUSTED = 8  # RESOURCE_EXHAUSTED (absl/status/status.h)
# Functions that pass on the failure of an earlier call.
_HAND_ON = ("PJRT_Event_", "PJRT_Error_", "PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_ReadyEvent")


def write_memory(connection: sqlite3.Connection, capture: int, activity: Activity) -> None:
    """Write the live memory of a capture's devices, replacing the stored rows."""
    forget_memory(connection, capture)
    pieces = pieces_of_allocator(connection, capture) or pieces_of_buffers(connection, capture)
    if not pieces.devices:
        return
    line_of = LineOf.of_calls(connection, pieces.by, pieces.kind)
    growth = Growth(activity, line_of.nodes)
    memories = []
    for place, device in enumerate(pieces.devices):
        memory = _Memory.of(pieces, np.flatnonzero(pieces.device == place))
        _write_device(connection, capture, device, memory, pieces.unsized[place])
        for is_by_way, groups in enumerate((line_of.line, line_of.way)):
            _write_lines(connection, (capture, device, is_by_way), memory, groups[memory.rows], line_of, growth)
        memories.append(memory)
    _write_failures(connection, capture, pieces, memories, line_of)


def forget_memory(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the live memory of a capture's devices."""
    connection.execute(
        "DELETE FROM memory_held WHERE call IN (SELECT call FROM memory_failures WHERE capture = ?)", (capture,)
    )
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


@dataclass(frozen=True, slots=True)
class _Memory:
    """One device's pieces, and its births and deaths in the order of time.

    `rows` are the rows of its pieces. For each piece, `born` and `died` are indices of events. `had_from` and
    `had_until` are the times between which the program had it. `size` and `made` are as in `Pieces`. For each event,
    `time` is its time and `alive` the number of live bytes after it.
    """

    rows: Integers
    size: Integers
    made: Integers
    had_from: Integers
    had_until: Integers
    born: Integers
    died: Integers
    time: Integers
    alive: Integers

    @classmethod
    def of(cls, pieces: Pieces, rows: Integers) -> _Memory:
        size, born, died = pieces.size[rows], pieces.born[rows], pieces.died[rows]
        dead = np.flatnonzero(died < FOREVER)
        piece = np.concatenate([np.arange(len(rows)), dead])
        is_birth = np.arange(len(piece)) < len(rows)
        time = np.concatenate([born, died[dead]])
        order = np.lexsort((is_birth, time))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        deaths = np.full(len(rows), len(order), np.int64)
        deaths[dead] = place[len(rows) :]
        change = np.where(is_birth, 1, -1) * size[piece]
        return cls(
            *(rows, size, pieces.made[rows], born, pieces.let_go[rows]),
            *(place[: len(rows)], deaths, time[order], np.cumsum(change[order])),
        )

    @property
    def peak(self) -> int:
        """Return the event after which the most bytes were alive; -1 without events."""
        return int(np.argmax(self.alive)) if len(self.alive) else -1

    def alive_after(self, event: int) -> Integers:
        """Return the pieces that are alive after an event, as indices into `rows`."""
        return np.flatnonzero((self.born <= event) & (self.died > event))

    def last_before(self, time: int) -> int:
        """Return the last event at or before a time."""
        return int(np.searchsorted(self.time, time, side="right")) - 1


def _write_device(connection: sqlite3.Connection, capture: int, device: str, memory: _Memory, unsized: int) -> None:
    peak = memory.peak
    is_peak = memory.born == peak
    values = (
        int(memory.alive[peak]) if len(memory.alive) else 0,
        int(memory.time[peak]) if len(memory.alive) else 0,
        int(memory.made[is_peak][0]) if is_peak.any() else 0,
        int(memory.alive[-1]) if len(memory.alive) else 0,
        len(memory.rows),
        unsized,
    )
    connection.execute("INSERT INTO memory_devices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (capture, device, *values))
    shown = _shown(memory.alive)
    connection.executemany(
        "INSERT INTO memory_points VALUES (?, ?, ?, ?, ?)",
        [
            (capture, device, point, time, alive)
            for point, (time, alive) in enumerate(
                zip(memory.time[shown].tolist(), memory.alive[shown].tolist(), strict=True)
            )
        ],
    )


def _shown(alive: Integers) -> Integers:
    """Return the events to store as points: all, or the highest of equal-sized groups and the last one."""
    if len(alive) <= POINTS:
        return np.arange(len(alive))
    return np.unique(np.append(highest_of_parts(alive, POINTS - 1), len(alive) - 1))


def _write_lines(
    connection: sqlite3.Connection,
    key: tuple[int, str, int],
    memory: _Memory,
    groups: Integers,
    line_of: LineOf,
    growth: Growth,
) -> None:
    peak, end = memory.peak, len(memory.alive) - 1
    rows = []
    for group, members in _grouped(groups):
        born, died, size = memory.born[members], memory.died[members], memory.size[members]
        at_peak = (born <= peak) & (died > peak)
        had = memory.had_from[members], memory.had_until[members]
        left, rounds = growth.of_pieces(memory.rows[members], *had, size)
        rows.append(
            (
                *(*key, line_of.node[group], len(members), int(size.sum())),
                *(int(size[at_peak].sum()), int(at_peak.sum()), int(size[died > end].sum())),
                *(_most(born, died, size), left, rounds, int(np.max(memory.made[members]))),
            )
        )
    connection.executemany(f"INSERT INTO memory_lines VALUES ({', '.join('?' * 13)})", rows)


def _grouped(groups: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each group with the indices of its members, in their order."""
    order = np.argsort(groups, kind="stable")
    begins = np.flatnonzero(np.append(True, groups[order][1:] != groups[order][:-1])) if len(order) else order
    for members in np.split(order, begins[1:]) if len(order) else ():
        yield int(groups[members[0]]), members


def _most(born: Integers, died: Integers, size: Integers) -> int:
    """Return the peak of the pieces' total bytes."""
    return int(np.max(np.cumsum(np.concatenate([size, -size])[np.argsort(np.concatenate([born, died]))]), initial=0))


# Out-of-memory failures


def _write_failures(
    connection: sqlite3.Connection, capture: int, pieces: Pieces, memories: Sequence[_Memory], line_of: LineOf
) -> None:
    query = (
        "SELECT c.id, c.start, coalesce(c.arguments, 0), b.boundary = 'mock_tpu', b.name FROM call_kinds k"
        " JOIN boundaries b ON b.id = k.boundary CROSS JOIN call_spans s ON s.kind = k.id"
        " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = k.id"
        " WHERE k.capture = ? AND k.error = ? ORDER BY c.id"
    )
    rows = connection.execute(query, (capture, _EXHAUSTED)).fetchall()
    rows = [row[:4] for row in rows if not row[4].startswith(_HAND_ON)]
    if not rows:
        return
    call, start, argument, is_of_allocator = columns(rows, 4)
    outer = _outermost(connection, call)
    failing, place = np.unique(outer, return_inverse=True)
    query = f"SELECT kind FROM call_rows WHERE id {IN_JSON} ORDER BY id"
    (kinds,) = columns(connection.execute(query, (json_list(failing.tolist()),)), 1)
    lines = LineOf.of_calls(connection, outer, kinds[place])
    told = arguments_of(connection, argument[is_of_allocator == 1])
    failed: dict[int, int] = {}  # the most informative row of each outermost call: its first failed allocation
    for row in np.lexsort((call, is_of_allocator == 0)).tolist():
        failed.setdefault(int(outer[row]), row)
    for failure in sorted(failed)[:MOST_FAILURES]:
        row = failed[failure]
        values = told.get(int(argument[row]), {})
        wanted = values.get("bytes") if isinstance(values.get("bytes"), int) else None
        told_device = str(values.get("device"))
        device = told_device if told_device.isdigit() else pieces.devices[0] if len(memories) == 1 else ""
        memory = memories[pieces.devices.index(device)] if device in pieces.devices else None
        event = memory.last_before(int(start[row])) if memory else -1
        alive = int(memory.alive[event]) if memory and event >= 0 else 0
        node = lines.node[int(lines.line[row])]
        if memory is None:
            nothing = "INSERT OR IGNORE INTO memory_devices VALUES (?, ?, 0, 0, 0, 0, 0, 0)"
            connection.execute(nothing, (capture, device))
        connection.execute(
            "INSERT INTO memory_failures VALUES (?, ?, ?, ?, ?, ?, ?)",
            (failure, capture, device, int(start[row]), node, wanted, alive),
        )
        if memory:
            _write_held(connection, failure, memory, memory.alive_after(event), line_of)


def _outermost(connection: sqlite3.Connection, calls: Integers) -> Integers:
    """Return the outermost call that encloses each of these calls, or the call itself."""
    found = calls.copy()
    while True:
        known, place = np.unique(found, return_inverse=True)
        query = f"SELECT id, coalesce(inside, 0) FROM call_rows WHERE id {IN_JSON} ORDER BY id"
        ids, inside = columns(connection.execute(query, (json_list(known.tolist()),)), 2)
        back = np.zeros(len(known), np.int64)
        back[np.searchsorted(known, ids)] = inside
        if not back.any():
            return found
        found = (known - back)[place]


def _write_held(
    connection: sqlite3.Connection, failure: int, memory: _Memory, alive: Integers, line_of: LineOf
) -> None:
    groups = line_of.line[memory.rows[alive]]
    held = [
        (failure, line_of.node[group], len(members), int(memory.size[alive[members]].sum()))
        for group, members in _grouped(groups)
    ]
    held.sort(key=lambda row: -row[3])
    connection.executemany("INSERT INTO memory_held VALUES (?, ?, ?, ?)", held[:MOST_HELD])
