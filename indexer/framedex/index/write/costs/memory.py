"""Write the live memory of a capture's devices, computed once all its calls are written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.costs.activity import Activity
from framedex.index.write.costs.allocations import read_allocator_pieces
from framedex.index.write.costs.buffers import read_buffer_pieces
from framedex.index.write.costs.loops import LoopKey
from framedex.index.write.costs.pieces import FOREVER, Pieces, read_arguments, read_columns, select_peaks
from framedex.index.write.costs.program_code import LineOf
from framedex.index.write.tree import Integers

MAX_POINTS = 2_000
"""The maximum number of stored points of a device's memory over time."""

MAX_FAILURES = 100
"""The maximum number of stored out-of-memory failures of a capture."""

MAX_HELD_LINES = 20
"""The maximum number of stored lines with live memory at such a failure."""

_TABLES = ("memory_devices", "memory_points", "memory_lines", "memory_failures")
_EXHAUSTED = 8  # RESOURCE_EXHAUSTED (absl/status/status.h)
# Functions that only return the failure of an earlier call.
_FORWARDING_FUNCTIONS = ("PJRT_Event_", "PJRT_Error_", "PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_ReadyEvent")


def write_memory(connection: sqlite3.Connection, capture: int, activity: Activity) -> None:
    """Write the live memory of a capture's devices, replacing the stored rows."""
    delete_memory(connection, capture)
    pieces = read_allocator_pieces(connection, capture) or read_buffer_pieces(connection, capture)
    if not pieces.devices:
        return
    line_of = LineOf.from_calls(connection, pieces.recorded_in, pieces.kind)
    growth = Growth(activity, line_of.nodes)
    memories = []
    for position, device in enumerate(pieces.devices):
        memory = _Memory.from_pieces(pieces, np.flatnonzero(pieces.device == position))
        _write_device(connection, capture, device, memory, pieces.unsized[position])
        for is_by_way, groups in enumerate((line_of.line, line_of.way)):
            _write_lines(connection, (capture, device, is_by_way), memory, groups[memory.rows], line_of, growth)
        memories.append(memory)
    _write_failures(connection, capture, pieces, memories, line_of)


def delete_memory(connection: sqlite3.Connection, capture: int) -> None:
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
    def from_pieces(cls, pieces: Pieces, rows: Integers) -> _Memory:
        size, born, died = pieces.size[rows], pieces.born[rows], pieces.died[rows]
        dead = np.flatnonzero(died < FOREVER)
        piece = np.concatenate([np.arange(len(rows)), dead])
        is_birth = np.arange(len(piece)) < len(rows)
        time = np.concatenate([born, died[dead]])
        order = np.lexsort((is_birth, time))
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        deaths = np.full(len(rows), len(order), np.int64)
        deaths[dead] = position[len(rows) :]
        change = np.where(is_birth, 1, -1) * size[piece]
        return cls(
            *(rows, size, pieces.made[rows], born, pieces.deleted[rows]),
            *(position[: len(rows)], deaths, time[order], np.cumsum(change[order])),
        )

    @property
    def peak_event(self) -> int:
        """Return the event after which the most bytes were alive; -1 without events."""
        return int(np.argmax(self.alive)) if len(self.alive) else -1

    def find_alive(self, event: int) -> Integers:
        """Return the pieces that are alive after an event, as indices into `rows`."""
        return np.flatnonzero((self.born <= event) & (self.died > event))

    def find_last_event(self, time: int) -> int:
        """Return the last event at or before a time."""
        return int(np.searchsorted(self.time, time, side="right")) - 1


def _write_device(connection: sqlite3.Connection, capture: int, device: str, memory: _Memory, unsized: int) -> None:
    peak = memory.peak_event
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
    shown = _select_points(memory.alive)
    connection.executemany(
        "INSERT INTO memory_points VALUES (?, ?, ?, ?, ?)",
        [
            (capture, device, point, time, alive)
            for point, (time, alive) in enumerate(
                zip(memory.time[shown].tolist(), memory.alive[shown].tolist(), strict=True)
            )
        ],
    )


def _select_points(alive: Integers) -> Integers:
    """Return the events to store as points: all, or the highest of equal-sized groups and the last one."""
    if len(alive) <= MAX_POINTS:
        return np.arange(len(alive))
    return np.unique(np.append(select_peaks(alive, MAX_POINTS - 1), len(alive) - 1))


def _write_lines(
    connection: sqlite3.Connection,
    key: tuple[int, str, int],
    memory: _Memory,
    groups: Integers,
    line_of: LineOf,
    growth: Growth,
) -> None:
    peak, end = memory.peak_event, len(memory.alive) - 1
    rows = []
    for group, members in _iterate_groups(groups):
        born, died, size = memory.born[members], memory.died[members], memory.size[members]
        at_peak = (born <= peak) & (died > peak)
        had = memory.had_from[members], memory.had_until[members]
        left, rounds = growth.measure(memory.rows[members], *had, size)
        rows.append(
            (
                *(*key, line_of.node[group], len(members), int(size.sum())),
                *(int(size[at_peak].sum()), int(at_peak.sum()), int(size[died > end].sum())),
                *(_compute_peak(born, died, size), left, rounds, int(np.max(memory.made[members]))),
            )
        )
    connection.executemany(f"INSERT INTO memory_lines VALUES ({', '.join('?' * 13)})", rows)


def _iterate_groups(groups: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each group with the indices of its members, in their order."""
    order = np.argsort(groups, kind="stable")
    begins = np.flatnonzero(np.append(True, groups[order][1:] != groups[order][:-1])) if len(order) else order
    for members in np.split(order, begins[1:]) if len(order) else ():
        yield int(groups[members[0]]), members


def _compute_peak(born: Integers, died: Integers, size: Integers) -> int:
    """Return the maximum of the total size of live pieces, in bytes."""
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
    rows = [row[:4] for row in rows if not row[4].startswith(_FORWARDING_FUNCTIONS)]
    if not rows:
        return
    call, start, argument, is_of_allocator = read_columns(rows, 4)
    outer = _find_outermost_calls(connection, call)
    failing, position = np.unique(outer, return_inverse=True)
    query = f"SELECT kind FROM call_rows WHERE id {IN_JSON} ORDER BY id"
    (kinds,) = read_columns(connection.execute(query, (json_list(failing.tolist()),)), 1)
    lines = LineOf.from_calls(connection, outer, kinds[position])
    arguments = read_arguments(connection, argument[is_of_allocator == 1])
    failed: dict[
        int, int
    ] = {}  # for each outermost call the row of its first failed allocation, else its first failure
    for row in np.lexsort((call, is_of_allocator == 0)).tolist():
        failed.setdefault(int(outer[row]), row)
    for failure in sorted(failed)[:MAX_FAILURES]:
        row = failed[failure]
        values = arguments.get(int(argument[row]), {})
        requested = values.get("bytes") if isinstance(values.get("bytes"), int) else None
        recorded_device = str(values.get("device"))
        device = recorded_device if recorded_device.isdigit() else pieces.devices[0] if len(memories) == 1 else ""
        memory = memories[pieces.devices.index(device)] if device in pieces.devices else None
        event = memory.find_last_event(int(start[row])) if memory else -1
        alive = int(memory.alive[event]) if memory and event >= 0 else 0
        node = lines.node[int(lines.line[row])]
        if memory is None:
            nothing = "INSERT OR IGNORE INTO memory_devices VALUES (?, ?, 0, 0, 0, 0, 0, 0)"
            connection.execute(nothing, (capture, device))
        connection.execute(
            "INSERT INTO memory_failures VALUES (?, ?, ?, ?, ?, ?, ?)",
            (failure, capture, device, int(start[row]), node, requested, alive),
        )
        if memory:
            _write_held(connection, failure, memory, memory.find_alive(event), line_of)


def _find_outermost_calls(connection: sqlite3.Connection, calls: Integers) -> Integers:
    """Return the outermost call that encloses each of these calls, or the call itself."""
    found = calls.copy()
    while True:
        known, position = np.unique(found, return_inverse=True)
        query = f"SELECT id, coalesce(inside, 0) FROM call_rows WHERE id {IN_JSON} ORDER BY id"
        ids, inside = read_columns(connection.execute(query, (json_list(known.tolist()),)), 2)
        back = np.zeros(len(known), np.int64)
        back[np.searchsorted(known, ids)] = inside
        if not back.any():
            return found
        found = (known - back)[position]


def _write_held(
    connection: sqlite3.Connection, failure: int, memory: _Memory, alive: Integers, line_of: LineOf
) -> None:
    groups = line_of.line[memory.rows[alive]]
    held = [
        (failure, line_of.node[group], len(members), int(memory.size[alive[members]].sum()))
        for group, members in _iterate_groups(groups)
    ]
    held.sort(key=lambda row: -row[3])
    connection.executemany("INSERT INTO memory_held VALUES (?, ?, ?, ?)", held[:MAX_HELD_LINES])


class Growth:
    """The growth of groups of pieces by the rounds of the loops around their allocations.

    `nodes` are the nodes of the lines that made the pieces of a capture.
    """

    def __init__(self, activity: Activity, nodes: Integers) -> None:
        self._activity = activity
        self._nodes = nodes
        self._loops = activity.find_loop_keys(nodes)
        self._starts: dict[LoopKey, Integers] = {}

    def measure(self, pieces: Integers, had_from: Integers, had_until: Integers, size: Integers) -> tuple[int, int]:
        """Return the growth per round of a loop in bytes (0: none), and the number of rounds (0: outside of loops).

        The program has a piece of `size` bytes from `had_from` until `had_until`. The loop is the innermost one that
        makes most of the pieces and grows, else the innermost one.
        """
        innermost = 0
        for key in self._find_loops(pieces):
            if key not in self._starts:
                self._starts[key] = self._activity.find_round_starts(key)
            starts = self._starts[key]
            if growth := _compute_growth(starts, had_from, had_until, size):
                return growth, len(starts)
            innermost = innermost or len(starts)
        return 0, innermost

    def _find_loops(self, pieces: Integers) -> list[LoopKey]:
        """Return the loops that make most of the pieces, innermost first."""
        nodes, counts = np.unique(self._nodes[pieces], return_counts=True)
        made: Counter[LoopKey] = Counter()
        for node, count in zip(nodes.tolist(), counts.tolist(), strict=True):
            for key in self._loops.get(node, ()):
                made[key] += count
        usual = int(nodes[np.argmax(counts)])
        return [key for key in self._loops.get(usual, ()) if 2 * made[key] > len(pieces)]


def _compute_growth(starts: Integers, had_from: Integers, had_until: Integers, size: Integers) -> int:
    """Return the bytes per round if the bytes before a round never fall, and rise in the later half of the rounds.

    The first round is left out because it compiles. Memory that one round keeps for the next one is not growth.
    """
    begun, ended = np.argsort(had_from, kind="stable"), np.argsort(had_until, kind="stable")
    gained = np.concatenate([[0], np.cumsum(size[begun])])[np.searchsorted(had_from[begun], starts[1:])]
    lost = np.concatenate([[0], np.cumsum(size[ended])])[np.searchsorted(had_until[ended], starts[1:], side="right")]
    before = gained - lost
    if (np.diff(before) < 0).any():
        return 0
    first, middle, last = (int(before[position]) for position in (0, (len(before) - 1) // 2, -1))
    return (last - first) // (len(before) - 1) if first < middle < last else 0
