"""Write the live memory of a capture's devices, computed once all its calls are written."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import IN_JSON, OTHER_PLUGINS, build_json_list
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.activity import CaptureActivity
from framedex.index.write.costs.allocations import read_allocator_pieces
from framedex.index.write.costs.buffers import read_buffer_pieces
from framedex.index.write.costs.loops import LoopKey
from framedex.index.write.costs.pieces import FOREVER, MemoryPieces, read_arguments, read_columns, select_peaks
from framedex.index.write.costs.program_code import LineGroups
from framedex.index.write.costs.program_runs import add_program_pieces, find_programs_of_runs

MAX_POINTS = 2_000
"""The maximum number of stored points of a device's memory over time."""

MAX_FAILURES = 100
"""The maximum number of stored out-of-memory failures of a capture."""

MAX_HELD_LINES = 20
"""The maximum number of stored lines with live memory at such a failure."""

_TABLES = ("memory_devices", "memory_points", "memory_lines", "memory_failures")
_EXHAUSTED = 8  # RESOURCE_EXHAUSTED (absl/status/status.h)
_REQUESTED_BYTES = re.compile(r"\ballocat\w* (\d{1,18}) ?(?:B\b|bytes\b)")
# Functions that only return the failure of an earlier call.
_FORWARDING_FUNCTIONS = ("PJRT_Event_", "PJRT_Error_", "PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_ReadyEvent")


def write_memory(connection: sqlite3.Connection, capture: int, activity: CaptureActivity) -> None:
    """Write the live memory of a capture's devices, replacing the stored rows."""
    delete_memory(connection, capture)
    pieces = _read_pieces(connection, capture)
    if not pieces.devices:
        return
    pieces = add_program_pieces(connection, capture, pieces)
    kinds, tree = activity.kinds, activity.code.nodes
    line_of = LineGroups.from_calls(connection, pieces.recorded_in, pieces.kind, kinds, tree)
    growth = MemoryGrowth(activity, line_of.nodes)
    memories = []
    for position, device in enumerate(pieces.devices):
        memory = _DevicePieces.from_pieces(pieces, np.flatnonzero(pieces.device == position))
        _write_device(connection, capture, device, memory, pieces.unsized[position])
        for is_by_way, groups in enumerate((line_of.line, line_of.path)):
            _write_lines(connection, (capture, device, is_by_way), memory, groups[memory.rows], line_of, growth)
        memories.append(memory)
    _write_failures(connection, capture, pieces, memories, line_of, activity)


def _read_pieces(connection: sqlite3.Connection, capture: int) -> MemoryPieces:
    """Return the pieces of memory: exact ones of the mock TPU, else those of buffers."""
    pieces = read_allocator_pieces(connection, capture)
    if pieces is None:
        return read_buffer_pieces(connection, capture)
    query = (
        "SELECT k.id FROM captures c JOIN call_kinds k ON k.capture = c.id JOIN boundaries b ON b.id = k.boundary"
        f" WHERE c.id = ? AND b.boundary IN ({OTHER_PLUGINS})"
    )
    kinds_of_others = [kind for (kind,) in connection.execute(query, (capture,))]
    return pieces.join(read_buffer_pieces(connection, capture, kinds_of_others)) if kinds_of_others else pieces


def delete_memory(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the live memory of a capture's devices."""
    connection.execute(
        "DELETE FROM memory_held WHERE call IN (SELECT call FROM memory_failures WHERE capture = ?)", (capture,)
    )
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


@dataclass(frozen=True, slots=True)
class _DevicePieces:
    """One device's pieces of memory, with their allocations and releases as events in order of time.

    `rows` are the rows of its pieces. For each piece, `allocation_event` and `release_event` are indices of events.
    `held_from` and `held_until` are the times between which the program owned the piece. `size` and `allocated_by` are
    as in `MemoryPieces`. For each event, `time` is its time and `live_bytes` the number of live bytes after it.
    """

    rows: Integers
    size: Integers
    allocated_by: Integers
    program: Integers
    held_from: Integers
    held_until: Integers
    allocation_event: Integers
    release_event: Integers
    time: Integers
    live_bytes: Integers

    @classmethod
    def from_pieces(cls, pieces: MemoryPieces, rows: Integers) -> _DevicePieces:
        size, born, died = pieces.size[rows], pieces.allocated_at[rows], pieces.released_at[rows]
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
            *(rows, size, pieces.allocated_by[rows], pieces.program[rows], born, pieces.deleted_at[rows]),
            *(position[: len(rows)], deaths, time[order], np.cumsum(change[order])),
        )

    @property
    def peak_event(self) -> int:
        """Return the event after which the most bytes were alive; -1 without events."""
        return int(np.argmax(self.live_bytes)) if len(self.live_bytes) else -1

    def find_alive(self, event: int) -> Integers:
        """Return the pieces that are alive after an event, as indices into `rows`."""
        return np.flatnonzero((self.allocation_event <= event) & (self.release_event > event))

    @property
    def is_temporary(self) -> npt.NDArray[np.bool_]:
        """The flag of pieces that are temporaries of runs."""
        flags: npt.NDArray[np.bool_] = (self.program > 0) & (self.program != self.allocated_by)
        return flags

    def find_last_event(self, time: int) -> int:
        """Return the last event at or before a time."""
        return int(np.searchsorted(self.time, time, side="right")) - 1


def _write_device(
    connection: sqlite3.Connection, capture: int, device: str, memory: _DevicePieces, unsized: int
) -> None:
    peak = memory.peak_event
    is_peak = memory.allocation_event == peak
    values = (
        int(memory.live_bytes[peak]) if len(memory.live_bytes) else 0,
        int(memory.time[peak]) if len(memory.live_bytes) else 0,
        int(memory.allocated_by[is_peak][0]) if is_peak.any() else 0,
        int(memory.live_bytes[-1]) if len(memory.live_bytes) else 0,
        int((memory.program == 0).sum()),
        unsized,
        *_find_program(memory, peak),
    )
    row = (capture, device, *values)
    connection.execute(f"INSERT INTO memory_devices VALUES ({', '.join('?' * len(row))})", row)
    shown = _select_points(memory.live_bytes)
    connection.executemany(
        "INSERT INTO memory_points VALUES (?, ?, ?, ?, ?)",
        [
            (capture, device, point, time, alive)
            for point, (time, alive) in enumerate(
                zip(memory.time[shown].tolist(), memory.live_bytes[shown].tolist(), strict=True)
            )
        ],
    )


def _find_program(memory: _DevicePieces, event: int) -> tuple[int, int, int]:
    """Return the temporaries and the code that are alive after an event, in bytes, and a program of the temporaries.

    The program is the one with the largest temporaries: the call that compiled it, or 0.
    """
    alive = memory.find_alive(event)
    temporary = alive[memory.is_temporary[alive]]
    code = alive[(memory.program[alive] > 0) & ~memory.is_temporary[alive]]
    program = int(memory.program[temporary[np.argmax(memory.size[temporary])]]) if len(temporary) else 0
    return int(memory.size[temporary].sum()), int(memory.size[code].sum()), program


def _select_points(alive: Integers) -> Integers:
    """Return the events to store as points: all, or the highest of equal-sized groups and the last one."""
    if len(alive) <= MAX_POINTS:
        return np.arange(len(alive))
    return np.unique(np.append(select_peaks(alive, MAX_POINTS - 1), len(alive) - 1))


def _write_lines(
    connection: sqlite3.Connection,
    key: tuple[int, str, int],
    memory: _DevicePieces,
    groups: Integers,
    line_of: LineGroups,
    growth: MemoryGrowth,
) -> None:
    peak, end = memory.peak_event, len(memory.live_bytes) - 1
    rows = []
    for group, members in _iterate_groups(groups):
        born, died, size = memory.allocation_event[members], memory.release_event[members], memory.size[members]
        at_peak = (born <= peak) & (died > peak)
        had = memory.held_from[members], memory.held_until[members]
        left, rounds = growth.measure(memory.rows[members], *had, size)
        is_buffer, is_temporary = memory.program[members] == 0, memory.is_temporary[members]
        rows.append(
            (
                *(*key, line_of.node[group], int(is_buffer.sum()), int(size[is_buffer].sum())),
                *(int(size[at_peak].sum()), int((at_peak & is_buffer).sum()), int(size[died > end].sum())),
                *(_compute_peak(born, died, size), left, rounds, int(np.max(memory.allocated_by[members]))),
                int(size[at_peak & is_temporary].sum()),
            )
        )
    connection.executemany(f"INSERT INTO memory_lines VALUES ({', '.join('?' * 14)})", rows)


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
    connection: sqlite3.Connection,
    capture: int,
    pieces: MemoryPieces,
    memories: Sequence[_DevicePieces],
    line_of: LineGroups,
    activity: CaptureActivity,
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
    (kinds,) = read_columns(connection.execute(query, (build_json_list(failing.tolist()),)), 1)
    lines = LineGroups.from_calls(connection, outer, kinds[position], activity.kinds, activity.code.nodes)
    programs = find_programs_of_runs(connection, capture, failing)
    # for each outermost call the row of its first failed allocation, else its first failure
    failed: dict[int, int] = {}
    for row in np.lexsort((call, is_of_allocator == 0)).tolist():
        failed.setdefault(int(outer[row]), row)
    rows_to_read = [failed[failure] for failure in sorted(failed)[:MAX_FAILURES]]
    arguments = read_arguments(connection, argument[rows_to_read])
    for failure in sorted(failed)[:MAX_FAILURES]:
        row = failed[failure]
        values = arguments.get(int(argument[row]), {})
        requested = _find_requested_bytes(values)
        recorded_device = str(values.get("device"))
        device = recorded_device if recorded_device.isdigit() else pieces.devices[0] if len(memories) == 1 else ""
        memory = memories[pieces.devices.index(device)] if device in pieces.devices else None
        event = memory.find_last_event(int(start[row])) if memory else -1
        alive = int(memory.live_bytes[event]) if memory and event >= 0 else 0
        node = lines.node[int(lines.line[row])]
        if memory is None:
            nothing = "INSERT OR IGNORE INTO memory_devices VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
            connection.execute(nothing, (capture, device))
        connection.execute(
            "INSERT INTO memory_failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (failure, capture, device, int(start[row]), node, requested, alive, programs.get(failure, 0)),
        )
        if memory:
            _write_held(connection, failure, memory, memory.find_alive(event), line_of)


def _find_requested_bytes(arguments: Mapping[str, Any]) -> int | None:
    """Return the requested bytes of a failed call, from its values or its error message; None if unknown."""
    if isinstance(size := arguments.get("bytes"), int):
        return size
    match = _REQUESTED_BYTES.search(str(arguments.get("error_message", "")))
    return None if match is None else int(match[1])


def _find_outermost_calls(connection: sqlite3.Connection, calls: Integers) -> Integers:
    """Return the outermost call that encloses each of these calls, or the call itself."""
    found = calls.copy()
    while True:
        known, position = np.unique(found, return_inverse=True)
        query = f"SELECT id, coalesce(inside, 0) FROM call_rows WHERE id {IN_JSON} ORDER BY id"
        ids, inside = read_columns(connection.execute(query, (build_json_list(known.tolist()),)), 2)
        back = np.zeros(len(known), np.int64)
        back[np.searchsorted(known, ids)] = inside
        if not back.any():
            return found
        found = (known - back)[position]


def _write_held(
    connection: sqlite3.Connection, failure: int, memory: _DevicePieces, alive: Integers, line_of: LineGroups
) -> None:
    groups = line_of.line[memory.rows[alive]]
    held = [
        (failure, line_of.node[group], len(members), int(memory.size[alive[members]].sum()))
        for group, members in _iterate_groups(groups)
    ]
    held.sort(key=lambda row: -row[3])
    connection.executemany("INSERT INTO memory_held VALUES (?, ?, ?, ?)", held[:MAX_HELD_LINES])


class MemoryGrowth:
    """The growth of groups of pieces by the iterations of the loops around their allocations.

    `nodes` are the nodes of the lines that created the pieces of a capture.
    """

    def __init__(self, activity: CaptureActivity, nodes: Integers) -> None:
        self._activity = activity
        self._nodes = nodes
        self._loops = activity.find_loop_keys(nodes)
        self._starts: dict[LoopKey, Integers] = {}

    def measure(self, pieces: Integers, held_from: Integers, held_until: Integers, size: Integers) -> tuple[int, int]:
        """Return the growth per iteration of a loop in bytes (0: none), and the iterations (0: outside of loops).

        The program owns a piece of `size` bytes from `held_from` until `held_until`. The loop is the innermost one that
        creates most of the pieces and grows, else the innermost one.
        """
        innermost = 0
        for key in self._find_loops(pieces):
            if key not in self._starts:
                self._starts[key] = self._activity.find_round_starts(key)
            starts = self._starts[key]
            if growth := _compute_growth(starts, held_from, held_until, size):
                return growth, len(starts)
            innermost = innermost or len(starts)
        return 0, innermost

    def _find_loops(self, pieces: Integers) -> list[LoopKey]:
        """Return the loops that create most of the pieces, innermost first."""
        nodes, counts = np.unique(self._nodes[pieces], return_counts=True)
        made: Counter[LoopKey] = Counter()
        for node, count in zip(nodes.tolist(), counts.tolist(), strict=True):
            for key in self._loops.get(node, ()):
                made[key] += count
        usual = int(nodes[np.argmax(counts)])
        return [key for key in self._loops.get(usual, ()) if 2 * made[key] > len(pieces)]


def _compute_growth(starts: Integers, held_from: Integers, held_until: Integers, size: Integers) -> int:
    """Return the average bytes per iteration if the bytes before one never fall, and rise in the later half; else 0.

    The first iteration is left out because it compiles. Memory that an iteration keeps only for the next is not growth.
    """
    begun, ended = np.argsort(held_from, kind="stable"), np.argsort(held_until, kind="stable")
    gained = np.concatenate([[0], np.cumsum(size[begun])])[np.searchsorted(held_from[begun], starts[1:])]
    lost = np.concatenate([[0], np.cumsum(size[ended])])[np.searchsorted(held_until[ended], starts[1:], side="right")]
    before = gained - lost
    if (np.diff(before) < 0).any():
        return 0
    first, middle, last = (int(before[position]) for position in (0, (len(before) - 1) // 2, -1))
    return (last - first) // (len(before) - 1) if first < middle < last else 0
