"""The calls of a few functions on a capture's threads, and their events, from which waits are found."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, json_list
from framedex.index.file.values import signed
from framedex.index.write.costs.pieces import FOREVER, OBJECTS, columns
from framedex.index.write.programs import COMPILES, LOADS, RUNS
from framedex.index.write.tree import Integers
from framedex.model import Direction
from framedex.objects.moves import MOVES
from framedex.objects.table import address_of, functions_of_the_c_api

READY_EVENT = "PJRT_Buffer_ReadyEvent"
ON_READY = "PJRT_Event_OnReady"
AWAIT = "PJRT_Event_Await"
POINTER = "PJRT_Buffer_UnsafePointer"
"""Returns the address of a buffer's content, after waiting for the content."""

COPIES = frozenset(
    name for name, move in MOVES.items() if move.direction is Direction.DEVICE_TO_HOST and name.startswith("PJRT_")
)
"""Functions that copy to the host, and return an event that fires when the copy is done."""

# A damaged capture may contain any time. 36 years are enough, and sums of a few stay within 64 bits.
_START, _DURATION = f"max(min(c.start, {1 << 60}), 0)", f"min(c.duration, {1 << 60})"
_COLUMNS = f"c.id, c.kind, {_START}, {_DURATION}, coalesce(c.arguments, 0), coalesce(c.id - c.inside, 0)"
_EVENT, _BUFFER = (re.compile(rf'"(?:{names})": "(0x[0-9a-f]+)"') for names in ("event", "buffer|src"))
_FAR = 512  # calls away: slower lookups are cached
_LAST = 4096  # the number of last calls searched for the one that ended last


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of calls of a capture, by their ids: function, thread, node of the program's line, and stack."""

    functions: tuple[str, ...]
    function: Integers  # index into `functions`
    thread: Integers
    node: Integers
    stack: Integers

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int) -> Kinds:
        """Return all kinds of a capture."""
        rows = connection.execute(
            "SELECT k.id, b.name, k.thread, coalesce(n.user_node, 0), k.stack FROM call_kinds k"
            " JOIN boundaries b ON b.id = k.boundary JOIN stacks s ON s.id = k.stack"
            f" LEFT JOIN nodes n ON n.id = {PYTHON_LEAF}"
            " WHERE k.capture = ?",
            (capture,),
        ).fetchall()
        names = tuple(sorted({row[1] for row in rows}))
        place = {name: index for index, name in enumerate(names)}
        columns_of = np.zeros((4, max((row[0] for row in rows), default=0) + 1), np.int64)
        for kind, name, thread, node, stack in rows:
            columns_of[:, kind] = place[name], thread, node, stack
        return cls(names, *columns_of)

    def of_functions(self, names: Iterable[str]) -> Integers:
        """Return the kinds of the calls of these functions."""
        wanted = {*names}
        places = [place for place, name in enumerate(self.functions) if name in wanted]
        return np.flatnonzero(np.isin(self.function, places) & (self.thread > 0))


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls in columns, in order of their ids.

    `start` and `end` are in ns; the end of a call that never returned is `FOREVER`. `inside` is the enclosing call, 0
    if none.
    """

    id: Integers
    kind: Integers
    start: Integers
    end: Integers
    arguments: Integers
    inside: Integers

    @classmethod
    def of_kinds(cls, connection: sqlite3.Connection, capture: int, kinds: Integers) -> Calls:
        """Return the calls of these kinds of the capture."""
        query = (
            f"SELECT {_COLUMNS} FROM captures p JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call"
            f" WHERE p.id = ? AND c.kind {IN_JSON} ORDER BY c.id"
        )
        return cls.of_rows(connection.execute(query, (capture, json_list(kinds.tolist()))))

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[int, ...]]) -> Calls:
        """Return calls from rows of `_COLUMNS`."""
        identifier, kind, start, duration, *rest = columns(rows, 6)
        return cls(identifier, kind, start, np.where(duration < 0, FOREVER, start + duration), *rest)

    def __len__(self) -> int:
        return len(self.id)

    def __getitem__(self, rows: Integers) -> Calls:
        return Calls(*(getattr(self, name)[rows] for name in self.__slots__))

    def rows_of(self, calls: Integers) -> Integers:
        """Return the rows of calls in the columns; -1 if missing."""
        places = np.minimum(np.searchsorted(self.id, calls), max(len(self) - 1, 0))
        if not len(self):
            return np.full(len(calls), -1)
        return np.where(self.id[places] == calls, places, -1)


@dataclass(frozen=True, slots=True)
class Events:
    """Events of a capture that a call made, ordered by the call that `made` them, then by the time of firing.

    `fired` is the time when the owner of a callback noticed the firing: `FOREVER` without a callback.
    """

    address: Integers
    born: Integers
    made: Integers
    fired: Integers
    noticed_in: Integers
    """The call that destroyed the event: in jaxlib, the call that notices the firing."""

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int) -> Events:
        """Return all events of a capture that a call made."""
        query = (
            f"SELECT o.address, o.born, o.created_call, coalesce({_START}, ?1) AS fired, coalesce(c.id, 0)"
            f" FROM {OBJECTS} LEFT JOIN call_rows c ON c.id = o.destroyed_call"
            " WHERE t.capture = ?2 AND t.name = 'event' AND o.created_call IS NOT NULL ORDER BY o.created_call, fired"
        )
        return cls(*columns(connection.execute(query, (int(FOREVER), capture)), 5))

    def made_by(self, calls: Integers) -> tuple[Integers, Integers]:
        """Return for each call the index of its first event, and the index after its last event."""
        return np.searchsorted(self.made, calls), np.searchsorted(self.made, calls, side="right")

    def last_of(self, calls: Integers) -> Integers:
        """Return for each call the index of its event that fired last; -1 without events."""
        first, behind = self.made_by(calls)
        return np.where(behind > first, behind - 1, -1)

    def fired_of(self, calls: Integers) -> Integers:
        """Return for each call the time when all its events had fired; -1 without events."""
        return np.append(self.fired, -1)[self.last_of(calls)]


def objects_at(addresses: Integers, born: Integers, wanted: Integers, times: Integers) -> Integers:
    """Return the object at each wanted address at that time: the last one created by then; -1 if none."""
    count = len(addresses)
    address = np.concatenate([addresses, wanted])
    is_asked = np.arange(len(address)) >= count
    order = np.lexsort((is_asked, np.concatenate([born, times]), address))
    latest = np.maximum.accumulate(np.where(is_asked[order], -1, np.arange(len(order))))
    found = np.full(len(address), -1)
    if len(order):
        candidate = order[np.maximum(latest, 0)]
        found[order] = np.where((latest >= 0) & (address[candidate] == address[order]), candidate, -1)
    return found[count:]


def events_asked(connection: sqlite3.Connection, calls: Calls) -> Integers:
    """Return the event addresses in calls of `PJRT_Event_...`; 0 if missing."""
    return _addresses(connection, calls, _EVENT)


def buffers_asked(connection: sqlite3.Connection, calls: Calls) -> Integers:
    """Return the buffer addresses in calls; 0 if missing."""
    return _addresses(connection, calls, _BUFFER)


def _addresses(connection: sqlite3.Connection, calls: Calls, pattern: re.Pattern[str]) -> Integers:
    known, place = np.unique(calls.arguments, return_inverse=True)
    rows = connection.execute(f"SELECT id, json FROM arguments WHERE id {IN_JSON}", (json_list(known.tolist()),))
    found = {number: match[1] for number, text in rows if (match := pattern.search(text)) is not None}
    told = np.array([signed(address_of(found.get(number))) for number in known.tolist()], np.int64)
    return told[place]


def moves_data() -> frozenset[str]:
    """Return the C API functions that move data or allocate memory for it: they do work and have no program."""
    functions = functions_of_the_c_api().items()
    holders = ("event", "buffer")
    works = {name for name, each in functions if each.works and any(made.type in holders for made in each.results)}
    return frozenset(works - COMPILES - LOADS - {RUNS})


class Threads:
    """The next and the previous call of a thread, among all calls of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, kinds: Kinds) -> None:
        self._connection = connection
        self._kinds = kinds
        query = "SELECT coalesce(first_call, 0), coalesce(last_call, -1) FROM captures WHERE id = ?"
        self.first, self.last = connection.execute(query, (capture,)).fetchone()
        query = (
            "SELECT k.thread, min(s.first_call), max(s.last_call) FROM call_kinds k JOIN call_spans s ON s.kind = k.id"
            " WHERE k.capture = ? GROUP BY k.thread"
        )
        self._spans = {thread: span for thread, *span in connection.execute(query, (capture,))}
        self._far: dict[tuple[int, int, int], tuple[int, ...]] = {}

    def ended(self) -> int:
        """Return the latest end among the last calls, in ns."""
        query = f"SELECT max({_START} + max({_DURATION}, 0)) FROM call_rows c WHERE id BETWEEN ? AND ?"
        (found,) = self._connection.execute(query, (max(self.first, self.last - _LAST), self.last)).fetchone()
        return int(found or 0)

    def began(self) -> int:
        """Return the start of the first call, in ns."""
        found = self._connection.execute(f"SELECT {_START} FROM call_rows c WHERE id = ?", (self.first,)).fetchone()
        return int(found[0]) if found else 0

    def after(self, calls: Calls) -> Calls:
        """Return each call's next call on the same thread after its return; with the id 0 if there is none."""
        threads = self._kinds.thread[calls.kind]
        asked = zip(calls.id.tolist(), threads.tolist(), calls.end.tolist(), strict=True)
        return Calls.of_rows(self._nearest(call, thread, 1, end) for call, thread, end in asked)

    def before(self, calls: Integers, threads: Integers) -> Calls:
        """Return the previous call of a thread before each of these calls; with the id 0 if there is none."""
        asked = zip(calls.tolist(), threads.tolist(), strict=True)
        return Calls.of_rows(self._nearest(call, thread, -1) for call, thread in asked)

    def _nearest(self, call: int, thread: int, step: int, since: int = 0) -> tuple[int, ...]:
        """Return `_COLUMNS` of the nearest call of a thread in this direction that began at or after `since`."""
        if (found := self._far.get((call, thread, step))) is not None:
            return found
        first, last = self._spans.get(thread, (0, -1))
        bounds, order = ((call + 1, last), "ASC") if step > 0 else ((first, call - 1), "DESC")
        query = (
            f"SELECT {_COLUMNS} FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN ? AND ? AND k.thread = ? AND {_START} >= ? ORDER BY c.id {order} LIMIT 1"
        )
        row = None if since == FOREVER else self._connection.execute(query, (*bounds, thread, since)).fetchone()
        found = row or (0,) * 6
        if abs(found[0] - call) > _FAR:
            self._far[call, thread, step] = found
        return found
