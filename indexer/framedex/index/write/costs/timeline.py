"""Read a capture's calls, events and threads as columns, from which waits and loops are found."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, build_json_list
from framedex.index.file.values import to_signed
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.pieces import FOREVER, OBJECTS_FROM, read_columns
from framedex.index.write.programs import COMPILE_FUNCTIONS, EXECUTE_FUNCTION, LOAD_FUNCTIONS
from framedex.model import LinkEvidence, TransferDirection
from framedex.programs.objects.moves import MOVES
from framedex.programs.objects.table import load_boundary_functions, parse_address

Booleans = npt.NDArray[np.bool_]

READY_EVENT_FUNCTION = "PJRT_Buffer_ReadyEvent"
ON_READY_FUNCTION = "PJRT_Event_OnReady"
AWAIT_FUNCTION = "PJRT_Event_Await"
UNSAFE_POINTER_FUNCTION = "PJRT_Buffer_UnsafePointer"
"""A function that returns the address of a buffer's content, after waiting for that content."""

HOST_COPY_FUNCTIONS = frozenset(
    name
    for name, move in MOVES.items()
    if move.direction is TransferDirection.DEVICE_TO_HOST and name.startswith("PJRT_")
)
"""Functions that copy to the host and return an event, which fires when the copy is done."""

# A damaged capture may contain any time. 36 years are enough, and sums of a few stay within 64 bits.
_LATEST = 1 << 60
_START, _DURATION = f"max(min(c.start, {_LATEST}), 0)", f"min(c.duration, {_LATEST})"
_COLUMNS = f"c.id, c.kind, {_START}, {_DURATION}, coalesce(c.arguments, 0), coalesce(c.id - c.inside, 0)"
_EVENT_ADDRESS, _BUFFER = (re.compile(rf'"(?:{names})": "(0x[0-9a-f]+)"') for names in ("event", "buffer|src"))
_CACHED_DISTANCE = 512  # calls; look-ups of more distant calls are slow and are cached
_LAST_CALLS = 4096  # the number of calls to search for the one that ended last


@dataclass(frozen=True, slots=True)
class KindColumns:
    """The kinds of calls of a capture, by their ids: function, thread, node of the program's line, and stack.

    `leaf` is the end of the Python stack, 0 if unknown.
    """

    functions: tuple[str, ...]
    function: Integers  # index into `functions`
    thread: Integers
    node: Integers
    stack: Integers
    leaf: Integers

    @classmethod
    def read(cls, connection: sqlite3.Connection, capture: int) -> KindColumns:
        """Return all kinds of a capture."""
        rows = connection.execute(
            "SELECT k.id, k.boundary, k.thread, coalesce(n.user_node, 0), k.stack, coalesce(n.id, 0) FROM call_kinds k"
            f" JOIN stacks s ON s.id = k.stack LEFT JOIN nodes n ON n.id = {PYTHON_LEAF} WHERE k.capture = ?",
            (capture,),
        )
        kind, boundary, *columns = read_columns(rows, 6)
        boundaries, number = np.unique(boundary, return_inverse=True)
        query = f"SELECT name FROM boundaries WHERE id {IN_JSON} ORDER BY id"
        of_boundary = [name for (name,) in connection.execute(query, (build_json_list(boundaries.tolist()),))]
        names = sorted({*of_boundary})
        columns_of = np.zeros((5, int(np.max(kind, initial=0)) + 1), np.int64)
        columns_of[:, kind] = np.array([names.index(name) for name in of_boundary], np.int64)[number], *columns
        return cls(tuple(names), *columns_of)

    def find_kinds(self, names: Iterable[str]) -> Integers:
        """Return the kinds of the calls of these functions."""
        distinct_names = {*names}
        places = [position for position, name in enumerate(self.functions) if name in distinct_names]
        return np.flatnonzero(np.isin(self.function, places) & (self.thread > 0))


@dataclass(frozen=True, slots=True)
class CallColumns:
    """Calls in columns, in order of their ids.

    `start` and `end` are in ns; the end of a call that never returned is `FOREVER`. `parent` is the enclosing call, 0
    if none.
    """

    id: Integers
    kind: Integers
    start: Integers
    end: Integers
    arguments: Integers
    parent: Integers

    @classmethod
    def read_calls_of_kinds(cls, connection: sqlite3.Connection, capture: int, kinds: Integers) -> CallColumns:
        """Read the calls of these kinds in a capture."""
        query = (
            f"SELECT {_COLUMNS} FROM captures p JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call"
            f" WHERE p.id = ? AND c.kind {IN_JSON} ORDER BY c.id"
        )
        return cls.from_rows(connection.execute(query, (capture, build_json_list(kinds.tolist()))))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, ...]]) -> CallColumns:
        """Return calls from rows of `_COLUMNS`."""
        identifier, kind, start, duration, *rest = read_columns(rows, 6)
        return cls(identifier, kind, start, np.where(duration < 0, FOREVER, start + duration), *rest)

    def __len__(self) -> int:
        return len(self.id)

    def __getitem__(self, rows: Integers) -> CallColumns:
        return CallColumns(*(getattr(self, name)[rows] for name in self.__slots__))

    def find_rows(self, calls: Integers) -> Integers:
        """Return the rows of calls in the columns; -1 if missing."""
        places = np.minimum(np.searchsorted(self.id, calls), max(len(self) - 1, 0))
        if not len(self):
            return np.full(len(calls), -1)
        return np.where(self.id[places] == calls, places, -1)


def assign_requested_calls(
    connection: sqlite3.Connection, capture: int, kinds: KindColumns, calls: CallColumns
) -> tuple[KindColumns, CallColumns]:
    """Assign compilations on native threads to the threads that waited for them, as kinds of their own.

    Since jaxlib 0.10 a native thread compiles, while the thread that requested it waits.
    """
    rows = connection.execute(
        "SELECT l.call, l.thread, coalesce(n.user_node, 0), n.id FROM captures p"
        " JOIN call_links l ON l.call BETWEEN p.first_call AND p.last_call JOIN nodes n ON n.id = l.node"
        " WHERE p.id = ? AND l.how = ? ORDER BY l.call",
        (capture, LinkEvidence.HANDED_OVER.value),
    )
    call, *requesters = read_columns(rows, 4)
    row = calls.find_rows(call)
    is_compilation = (row >= 0) & np.isin(calls.kind[row], kinds.find_kinds(COMPILE_FUNCTIONS | LOAD_FUNCTIONS))
    row, function = row[is_compilation], kinds.function[calls.kind[row[is_compilation]]]
    thread, node, leaf = (column[is_compilation] for column in requesters)
    added = np.stack([function, thread, node, np.zeros(len(row), np.int64), leaf])
    known, position = np.unique(added, axis=1, return_inverse=True)
    kind = calls.kind.copy()
    kind[row] = len(kinds.function) + position
    columns = (kinds.function, kinds.thread, kinds.node, kinds.stack, kinds.leaf)
    return KindColumns(kinds.functions, *map(np.append, columns, known)), replace(calls, kind=kind)


@dataclass(frozen=True, slots=True)
class CallbackTimes:
    """The calls that registered callbacks for events, in order, and the times when the runtime invoked them (ns).

    `FOREVER`: the callback had not been invoked when the recording ended. Calls whose callbacks were not recorded are
    missing.
    """

    call: Integers
    invoked_at: Integers

    @classmethod
    def from_rows(cls, rows: Integers, first_call: int) -> CallbackTimes:
        """Return the times from pairs (row in the capture, time); the capture begins with `first_call`."""
        row, time = rows.reshape(-1, 2).T
        return cls(row + first_call, np.where(time == FOREVER, FOREVER, np.clip(time, 0, _LATEST)))

    def find_times(self, calls: Integers) -> Integers:
        """Return for each call the time when its callback was invoked; -1 if unknown."""
        places = np.searchsorted(self.call, calls)
        is_known = np.append(self.call, 0)[places] == calls
        return np.where(is_known, np.append(self.invoked_at, -1)[places], -1)


NO_CALLBACKS = CallbackTimes(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class EventColumns:
    """The events of a capture that calls created, ordered by these calls (`created_by`), then by the time of firing.

    `fired_at` is the time when the runtime invoked its callback. If that is not recorded, it is the time when the owner
    of the callback noticed the firing. `FOREVER`: it did not fire, or has no callback.
    """

    id: Integers
    address: Integers
    created_at: Integers
    created_by: Integers
    fired_at: Integers
    noticed_in: Integers
    """The call that destroyed the event: in jaxlib, the call that notices the firing."""
    is_exact: Booleans
    """Whether `fired_at` is from the recorded callback."""

    @classmethod
    def read(cls, connection: sqlite3.Connection, capture: int) -> EventColumns:
        """Return all events of a capture that calls created."""
        query = (
            f"SELECT o.id, o.address, o.born, o.created_call, coalesce({_START}, ?1) AS fired, coalesce(c.id, 0)"
            f" FROM {OBJECTS_FROM} LEFT JOIN call_rows c ON c.id = o.destroyed_call"
            " WHERE t.capture = ?2 AND t.name = 'event' AND o.created_call IS NOT NULL ORDER BY o.created_call, fired"
        )
        number, address, *rest = read_columns(connection.execute(query, (int(FOREVER), capture)), 6)
        created_at, created_by, fired_at, noticed_in = rest
        is_exact = np.zeros(len(number), np.bool_)
        return cls(number, address, created_at, created_by, fired_at, noticed_in, is_exact)

    def apply_callbacks(self, events: Integers, invoked_at: Integers) -> EventColumns:
        """Return the events with the times of their callbacks; `events` are indices, -1: unknown, like times."""
        is_known = (events >= 0) & (invoked_at >= 0)
        first = np.full(len(self.id), -1).view(np.uint64)  # larger than any time
        np.minimum.at(first, events[is_known], invoked_at[is_known].astype(np.uint64))
        exact = first.view(np.int64)
        fired_at = np.where(exact >= 0, exact, self.fired_at)
        order = np.lexsort((fired_at, self.created_by))
        return EventColumns(
            self.id[order],
            self.address[order],
            self.created_at[order],
            self.created_by[order],
            fired_at[order],
            self.noticed_in[order],
            (exact >= 0)[order],
        )

    @property
    def has_pending(self) -> bool:
        """Whether an event had a callback and had not fired when the recording ended."""
        return bool(np.any(self.is_exact & (self.fired_at == FOREVER)))

    def find_events(self, addresses: Integers, times: Integers) -> Integers:
        """Return the index of the event at each address at a time; -1 if there is none."""
        return find_objects_at(self.address, self.created_at, addresses, times)

    def find_event_ranges(self, calls: Integers) -> tuple[Integers, Integers]:
        """Return for each call the index of its first event, and the index after its last event."""
        return np.searchsorted(self.created_by, calls), np.searchsorted(self.created_by, calls, side="right")

    def find_last_events(self, calls: Integers) -> Integers:
        """Return for each call the index of its event that fired last; -1 without events."""
        first, end_index = self.find_event_ranges(calls)
        return np.where(end_index > first, end_index - 1, -1)

    def find_fired_times(self, calls: Integers) -> Integers:
        """Return for each call the time when all its events had fired; -1 without events."""
        return np.append(self.fired_at, -1)[self.find_last_events(calls)]


def find_objects_at(addresses: Integers, born: Integers, wanted_addresses: Integers, times: Integers) -> Integers:
    """Return the object at each wanted address at a time: the last one created before; -1 if there is none."""
    count = len(addresses)
    address = np.concatenate([addresses, wanted_addresses])
    is_wanted = np.arange(len(address)) >= count
    order = np.lexsort((is_wanted, np.concatenate([born, times]), address))
    latest = np.maximum.accumulate(np.where(is_wanted[order], -1, np.arange(len(order))))
    found = np.full(len(address), -1)
    if len(order):
        candidate = order[np.maximum(latest, 0)]
        found[order] = np.where((latest >= 0) & (address[candidate] == address[order]), candidate, -1)
    return found[count:]


def read_event_addresses(connection: sqlite3.Connection, calls: CallColumns) -> Integers:
    """Return the event addresses in calls of `PJRT_Event_...`; 0 if missing."""
    return _read_addresses(connection, calls, _EVENT_ADDRESS)


def read_buffer_addresses(connection: sqlite3.Connection, calls: CallColumns) -> Integers:
    """Return the buffer addresses in calls; 0 if missing."""
    return _read_addresses(connection, calls, _BUFFER)


def _read_addresses(connection: sqlite3.Connection, calls: CallColumns, pattern: re.Pattern[str]) -> Integers:
    known, position = np.unique(calls.arguments, return_inverse=True)
    rows = connection.execute(f"SELECT id, json FROM arguments WHERE id {IN_JSON}", (build_json_list(known.tolist()),))
    found = {number: match[1] for number, text in rows if (match := pattern.search(text)) is not None}
    addresses = np.array([to_signed(parse_address(found.get(number))) for number in known.tolist()], np.int64)
    return addresses[position]


def find_data_functions() -> frozenset[str]:
    """Return the C API functions that move data or allocate memory for it, but do not compile or run programs."""
    functions = load_boundary_functions().items()
    holders = ("event", "buffer")
    works = {name for name, each in functions if each.does_work and any(made.type in holders for made in each.results)}
    return frozenset(works - COMPILE_FUNCTIONS - LOAD_FUNCTIONS - {EXECUTE_FUNCTION})


class ThreadCalls:
    """The next and the previous call of a thread, among all calls of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, kinds: KindColumns) -> None:
        self._connection = connection
        self._capture = capture
        self._kinds = kinds
        query = "SELECT coalesce(first_call, 0), coalesce(last_call, -1) FROM captures WHERE id = ?"
        self.first, self.last = connection.execute(query, (capture,)).fetchone()
        query = (
            "SELECT k.thread, min(s.first_call), max(s.last_call) FROM call_kinds k JOIN call_spans s ON s.kind = k.id"
            " WHERE k.capture = ? GROUP BY k.thread"
        )
        self._spans = {thread: span for thread, *span in connection.execute(query, (capture,))}
        self._distant_calls: dict[tuple[int, int, int], tuple[int, ...]] = {}

    def read_end(self) -> int:
        """Return the latest end time of the last calls, in ns."""
        query = f"SELECT max({_START} + max({_DURATION}, 0)) FROM call_rows c WHERE id BETWEEN ? AND ?"
        (found,) = self._connection.execute(query, (max(self.first, self.last - _LAST_CALLS), self.last)).fetchone()
        return int(found or 0)

    def read_last_end(self) -> int:
        """Return the end of the recording, in ns: the end of the program if known, else that of the last calls.

        The end of the program is known if `framedex run` waited for it and all calls until then were recorded.
        """
        query = (
            "SELECT json_extract(metadata, '$.ended_after_ns') FROM captures WHERE id = ?"
            " AND json_type(metadata, '$.ended_after_ns') = 'integer'"
        )
        found = self._connection.execute(query, (self._capture,)).fetchone()
        return max(self.read_end(), min(found[0], _LATEST) if found else 0)

    def read_start(self) -> int:
        """Return the start time of the first call, in ns."""
        found = self._connection.execute(f"SELECT {_START} FROM call_rows c WHERE id = ?", (self.first,)).fetchone()
        return int(found[0]) if found else 0

    def find_next_calls(self, calls: CallColumns) -> CallColumns:
        """Return for each call the next call on its thread after it returned; its id is 0 if there is none."""
        threads = self._kinds.thread[calls.kind]
        queries = zip(calls.id.tolist(), threads.tolist(), calls.end.tolist(), strict=True)
        return CallColumns.from_rows(self._find_nearest(call, thread, 1, end) for call, thread, end in queries)

    def find_previous_calls(self, calls: Integers, threads: Integers) -> CallColumns:
        """Return for each call the previous call on the given thread; its id is 0 if there is none."""
        queries = zip(calls.tolist(), threads.tolist(), strict=True)
        return CallColumns.from_rows(self._find_nearest(call, thread, -1) for call, thread in queries)

    def _find_nearest(self, call: int, thread: int, step: int, since: int = 0) -> tuple[int, ...]:
        """Return `_COLUMNS` of a thread's nearest call in the direction `step`, from the time `since` on."""
        if (found := self._distant_calls.get((call, thread, step))) is not None:
            return found
        first, last = self._spans.get(thread, (0, -1))
        bounds, order = ((call + 1, last), "ASC") if step > 0 else ((first, call - 1), "DESC")
        query = (
            f"SELECT {_COLUMNS} FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN ? AND ? AND k.thread = ? AND {_START} >= ? ORDER BY c.id {order} LIMIT 1"
        )
        row = None if since == FOREVER else self._connection.execute(query, (*bounds, thread, since)).fetchone()
        found = row or (0,) * 6
        if abs(found[0] - call) > _CACHED_DISTANCE:
            self._distant_calls[call, thread, step] = found
        return found
