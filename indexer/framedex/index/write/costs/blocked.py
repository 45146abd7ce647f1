"""The times when Python threads were blocked on the runtime.

Most of this time is not in a call. jaxlib registers a callback for an event (`PJRT_Event_OnReady`), which returns at
once, and lets the thread wait in jaxlib itself. The wait is therefore found between two calls of the thread: its last
call before the event fired, and the next. The thread was blocked until the event fired, a time recorded by the call
that destroys the event. If the thread's next call was earlier, it was blocked until that call, because a callback may
come late. An event that has already fired blocks no thread.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.index.write.costs.pieces import FOREVER, OBJECTS, columns
from framedex.index.write.costs.timeline import (
    AWAIT,
    COPIES,
    ON_READY,
    POINTER,
    READY_EVENT,
    Calls,
    Events,
    Kinds,
    Threads,
    buffers_asked,
    events_asked,
    moves_data,
    objects_at,
)
from framedex.index.write.programs import RUNS
from framedex.index.write.tree import Integers
from framedex.model.costs.waits import WaitHow

Booleans = npt.NDArray[np.bool_]

LEAST_IN_CALL = 1_000_000
"""The minimum duration (ns) at which a call that also works counts as a blocking call."""

HOWS = tuple(WaitHow)
_READY, _COPY, _RUN = (HOWS.index(how) for how in (WaitHow.READY, WaitHow.COPY, WaitHow.RUN))

_STEPS = 32  # the maximum number of calls of a line searched for the firing of its event
_LATE = 2  # the end of a wait may be noticed late by half of the waiting time
_SLOW = 3  # a run that waited for its turn takes this many times as long as the quickest runs of its kind
# Functions that only query an array or start a copy, in JAX (jax/_src/array.py) and jaxlib (py_array.cc).
_ASKING = (
    "fn.name = 'ArrayImpl.copy_to_host_async' AND fn.language = 'python'"
    " OR fn.name LIKE '%PyArray::IsReady' AND fn.language = 'native'"
)
# Functions that fetch an array's value and wait for it.
_READING = "fn.name = 'ArrayImpl._value' AND fn.language = 'python'"


@dataclass(frozen=True, slots=True)
class Blocked:
    """Waits of threads, in columns, in order of `call`.

    `call` is the call in or after which the thread was blocked. `how` is an index into `HOWS`. `start` and `end` are in
    ns. `in_call` is the part of the wait that was inside the call. If `is_unsure`, no record has the time when the
    awaited data was ready, and the wait ends with the thread's next call. If `is_unended`, the recording does not have
    the end of the wait: it lasts at least until the last recorded call.
    """

    call: Integers
    kind: Integers
    how: Integers
    start: Integers
    end: Integers
    in_call: Integers
    is_unsure: Booleans
    is_unended: Booleans

    @classmethod
    def joined(cls, parts: list[Blocked]) -> Blocked:
        """Return all waits, one per gap: among the waits after one call, the one that ended last."""
        whole = cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))
        order = np.lexsort((whole.end, whole.call))
        is_last = np.append(whole.call[order][1:] != whole.call[order][:-1], True)[: len(order)]
        return whole[order[is_last]]

    def __len__(self) -> int:
        return len(self.call)

    def __getitem__(self, rows: Integers) -> Blocked:
        return Blocked(*(getattr(self, name)[rows] for name in self.__slots__))


def blocked(
    connection: sqlite3.Connection, capture: int, calls: Calls, kinds: Kinds, events: Events, threads: Threads
) -> Blocked:
    """Return the waits of a capture's threads; `calls` must include all calls of the needed functions."""
    if not len(calls):
        return Blocked(*(np.zeros(0, np.int64),) * 6, *(np.zeros(0, np.bool_),) * 2)
    is_python = kinds.node[calls.kind] > 0
    finder = _Finder(connection, capture, calls, kinds, events, threads)
    return Blocked.joined([finder.in_events(is_python), finder.in_calls(is_python), finder.in_runs(is_python)])


@dataclass(frozen=True, slots=True)
class _Finder:
    connection: sqlite3.Connection
    capture: int
    calls: Calls
    kinds: Kinds
    events: Events
    threads: Threads

    def _of(self, *names: str) -> Booleans:
        return np.isin(self.calls.kind, self.kinds.of_functions(names))

    # Blocked in a call

    def in_calls(self, is_python: Booleans) -> Blocked:
        """Return the waits in calls: `AWAIT` calls of any length, other calls from `LEAST_IN_CALL` on."""
        duration = self._durations()
        is_copy = self._of(*COPIES)
        is_await = self._of(AWAIT)
        is_long = (duration >= LEAST_IN_CALL) | (self.calls.end == FOREVER)
        rows = np.flatnonzero(is_python & (is_await | ((is_copy | self._of(POINTER)) & is_long)))
        how = np.where(is_copy[rows] | self._awaits_copy(rows, is_await), _COPY, _READY)
        return self._whole(rows, how, duration[rows])

    def _awaits_copy(self, rows: Integers, is_await: Booleans) -> Booleans:
        """Return which of these calls wait for the event of a copy."""
        found = np.zeros(len(rows), np.bool_)
        places = np.flatnonzero(is_await[rows])
        event = self._events_of(self.calls[rows[places]])
        maker = self._makers_of(event)
        found[places] = (maker >= 0) & self._of(*COPIES)[maker]
        return found

    def _makers_of(self, events: Integers) -> Integers:
        """Return the rows of the calls that made these events; -1: unknown."""
        return self.calls.rows_of(np.append(self.events.made, -1)[events])

    def _events_of(self, calls: Calls) -> Integers:
        asked = events_asked(self.connection, calls)
        return objects_at(self.events.address, self.events.born, asked, calls.start)

    def _durations(self) -> Integers:
        """Return the durations of the calls. A call that never returned lasts until the last recorded call returned."""
        ended = self.threads.ended()
        return (
            np.where(self.calls.end < FOREVER, self.calls.end, np.maximum(ended, self.calls.start)) - self.calls.start
        )

    def _whole(self, rows: Integers, how: Integers, length: Integers) -> Blocked:
        start = self.calls.start[rows]
        is_unsure = np.zeros(len(rows), np.bool_)
        is_unended = self.calls.end[rows] == FOREVER
        of_calls = self.calls.id[rows], self.calls.kind[rows]
        return Blocked(*of_calls, how, start, start + length, length, is_unsure, is_unended)

    def in_runs(self, is_python: Booleans) -> Blocked:
        """Return the waits in runs that ended in their call, never returned, or waited for an earlier run."""
        duration = self._durations()
        is_run = self._of(RUNS)
        runs = np.flatnonzero(is_run & is_python)
        fired = self.events.fired_of(self.calls.id[np.flatnonzero(is_run)])
        ends = np.sort(fired[(fired >= 0) & (fired < FOREVER)])
        is_open = self.calls.end[runs] == FOREVER
        rows = runs[(duration[runs] >= LEAST_IN_CALL) | is_open]
        start, took = self.calls.start[rows], duration[rows]
        # The thread continues when a run has ended, and may notice the end a little later.
        latest = np.searchsorted(ends, start + took + took // _LATE, side="right") - 1
        freed = np.append(ends, 0)[latest]
        quickest = self._quickest(runs, duration, rows)
        is_freed = (freed > start) & (took >= _SLOW * quickest)
        own = self.events.fired_of(self.calls.id[rows])
        is_open = self.calls.end[rows] == FOREVER
        is_over = is_open | ((own >= 0) & self._is_noticed_at_once(rows))
        length = np.where(is_over, took, np.where(is_freed, took - quickest, 0))
        kept = is_open | (length > 0)
        return self._whole(rows[kept], np.full(int(kept.sum()), _RUN), length[kept])

    def _quickest(self, runs: Integers, duration: Integers, rows: Integers) -> Integers:
        """Return for each of these runs the duration of the quickest tenth of the runs of its kind."""
        kind = self.calls.kind[runs]
        order = np.lexsort((duration[runs], kind))
        known, first, count = np.unique(kind[order], return_index=True, return_counts=True)
        tenth: Integers = duration[runs][order][first + count // 10]
        return tenth[np.searchsorted(known, self.calls.kind[rows])]

    def _is_noticed_at_once(self, rows: Integers) -> Booleans:
        """Return whether all events of each call had fired when the `OnReady` call for them was made."""
        first, behind = self.events.made_by(self.calls.id[rows])
        noticed = self.calls.rows_of(self._asked_in(self.events.noticed_in))
        is_at_once = np.append((noticed >= 0) & self._of(ON_READY)[noticed], True)
        count = np.concatenate([[0], np.cumsum(~is_at_once)])
        found: Booleans = count[behind] == count[first]
        return found

    def _asked_in(self, calls: Integers) -> Integers:
        """Return the ids of the calls that enclose these calls; 0 if none."""
        known, place = np.unique(calls, return_inverse=True)
        query = "SELECT c.id, coalesce(c.id - c.inside, 0) FROM json_each(?) s JOIN call_rows c ON c.id = s.value"
        identifier, inside = columns(self.connection.execute(query, (str(known.tolist()),)), 2)
        outer = np.zeros(len(known), np.int64)
        outer[np.searchsorted(known, identifier)] = inside
        return outer[place]

    # Blocked after a call, until an event fired

    def in_events(self, is_python: Booleans) -> Blocked:
        """Return the waits after calls that registered a callback for an event."""
        rows = np.flatnonzero(self._of(ON_READY) & is_python)
        event = self._events_of(self.calls[rows])
        maker = self._makers_of(event)
        of_interest = np.flatnonzero((maker >= 0) & self._of(*COPIES, READY_EVENT)[maker])
        of_interest = of_interest[self._is_asked_by_maker(rows[of_interest], maker[of_interest])]
        pending = self._pending(rows[of_interest], event[of_interest], maker[of_interest])
        asking = np.isin(self.kinds.stack[pending.calls.kind], self._stacks_through(_ASKING))
        here, later = pending[np.flatnonzero(~asking)], pending[np.flatnonzero(asking)]
        return Blocked.joined(
            [
                self._on_the_line(here, is_asking=False),
                self._on_the_line(later, is_asking=True),
                self._where_read(later),
            ]
        )

    def _is_asked_by_maker(self, rows: Integers, makers: Integers) -> Booleans:
        """Return whether the thread of each call made the event itself, as its latest event, as jaxlib does.

        The address alone is not enough. An implementation may use one event for all events that have already fired, and
        an event may reuse the address of another thread's event.
        """
        thread = self.kinds.thread[self.calls.kind]
        making = np.flatnonzero(self._of(*COPIES, READY_EVENT, RUNS, *moves_data()))
        order = making[np.lexsort((making, thread[making]))]
        place = np.zeros(len(self.calls), np.int64)
        place[order] = np.arange(len(order))
        following = np.append(order, -1)[place[makers] + 1]
        is_other = (following < 0) | (thread[following] != thread[makers]) | (following > rows)
        found: Booleans = is_other & (thread[rows] == thread[makers])
        return found

    def _pending(self, rows: Integers, event: Integers, maker: Integers) -> _Pending:
        """Return those of these calls whose event had not fired."""
        is_copy = self._of(*COPIES)[maker]
        result = self._last_events_of_results(maker)
        there = np.append(self.events.fired, -1)[result]
        fired = np.where(is_copy, self.events.fired[event], there)
        end = self.calls.end[rows]
        # For a copy, its source has to be ready first.
        is_of_source = ~is_copy | ((there > end) & (there <= fired))
        waited = np.flatnonzero((fired < 0) | (fired > end))
        noticed_in = np.append(self.events.noticed_in, 0)[np.where(is_of_source, result, event)]
        return _Pending(
            self.calls[rows[waited]],
            np.where(is_copy, _COPY, _READY)[waited],
            np.where(is_of_source, there, fired)[waited],
            fired[waited],
            noticed_in[waited],
        )

    def _last_events_of_results(self, asking: Integers) -> Integers:
        """Return the last event of the run that made each call's buffer; -1: unknown."""
        asked = self.calls[asking]
        query = (
            "SELECT o.address, o.born, coalesce(o.created_call, 0)"
            f" FROM {OBJECTS} WHERE t.capture = ? AND t.name = 'buffer'"
        )
        address, born, made = columns(self.connection.execute(query, (self.capture,)), 3)
        buffer = objects_at(address, born, buffers_asked(self.connection, asked), asked.start)
        maker = np.append(made, 0)[buffer]
        row = self.calls.rows_of(maker)
        is_run = (row >= 0) & self._of(RUNS)[row]
        return np.where(is_run, self.events.last_of(maker), -1)

    def _stacks_through(self, condition: str) -> Integers:
        """Return the stacks with functions that meet this condition."""
        query = (
            "WITH RECURSIVE down(node) AS ("
            " SELECT n.id FROM functions fn JOIN frames fr ON fr.function = fn.id JOIN nodes n ON n.frame = fr.id"
            f" WHERE {condition} UNION SELECT n.id FROM down JOIN nodes n ON n.parent = down.node)"
            " SELECT id FROM stacks WHERE leaf IN down OR python_leaf IN down"
        )
        return columns(self.connection.execute(query), 1)[0]

    def _on_the_line(self, pending: _Pending, *, is_asking: bool) -> Blocked:
        """Return the waits on the line that registered the callback: the gap in which the event fired.

        The gap is between two calls of that line. If the event was noticed only after the thread had left the line, or
        never, the wait is the longest gap on that line. With `is_asking`, that gap counts only if the event was noticed
        soon after it, because such a line need not wait.
        """
        ended = self.threads.ended()
        line = self.kinds.node[pending.calls.kind]
        is_known = (pending.there >= 0) & (pending.there < FOREVER)
        found = np.zeros((4, len(pending)), np.int64)  # the call, its kind, its start and its end
        longest = np.zeros(len(pending), np.int64)
        is_unended = np.zeros(len(pending), np.bool_)
        active, last = np.arange(len(pending)), pending.calls
        for step in range(_STEPS):
            if not len(active):
                break
            coming = self.threads.after(last)
            is_last = coming.id == 0
            until = np.where(is_last, np.where(is_known[active], pending.fired[active], ended), coming.start)
            is_there = is_known[active] & (pending.there[active] <= until)
            until = np.where(is_there, np.minimum(pending.fired[active], until), until)
            length = np.where(is_there & is_asking & (step == 0), 0, until - last.end)
            is_open = is_last & (pending.there[active] == FOREVER)
            is_told = is_there | is_open | (length > longest[active])
            longest[active[is_told]] = length[is_told]
            is_unended[active[is_told]] = is_open[is_told]
            found[:, active[is_told]] = np.stack([last.id, last.kind, last.end, until])[:, is_told]
            has_left = ~is_there & (is_last | (self.kinds.node[coming.kind] != line[active]))
            if is_asking:
                late = pending.fired[active] - found[3, active]
                is_late = is_known[active] & (late <= longest[active] // _LATE)
                longest[active[has_left & ~is_late]] = 0
            goes_on = ~is_there & ~has_left
            active, last = active[goes_on], coming[np.flatnonzero(goes_on)]
        if is_asking:
            longest[active] = 0
        kept = np.flatnonzero(longest > 0 if is_asking else (longest > 0) | is_unended)
        call, kind, start, end = found[:, kept]
        is_unsure = ~is_known[kept] & ~is_unended[kept]
        zeros = np.zeros(len(kept), np.int64)
        return Blocked(call, kind, pending.how[kept], start, end, zeros, is_unsure, is_unended[kept])

    def _where_read(self, pending: _Pending) -> Blocked:
        """Return the waits where a value was read whose copy had been started on another line.

        The wait is the longest gap after a call of the reading code, among the thread's last calls before the firing
        was noticed. The thread may have continued by then.
        """
        known = pending[np.flatnonzero((pending.there >= 0) & (pending.there < FOREVER))]
        thread, line = self.kinds.thread[known.calls.kind], self.kinds.node[known.calls.kind]
        readers = self._stacks_through(_READING)
        found = np.zeros((4, len(known)), np.int64)  # the call, its kind, its start and its end
        active, until = np.arange(len(known)), known.fired.copy()
        before = known.noticed_in
        for _ in range(_STEPS):
            if not len(active):
                break
            last = self.threads.before(before, thread[active])
            is_reading = np.isin(self.kinds.stack[last.kind], readers) & (self.kinds.node[last.kind] != line[active])
            gap = np.where(is_reading, until - last.end, 0)
            goes_on = last.id > known.calls.id[active]
            is_longer = goes_on & (gap > (found[3] - found[2])[active])
            found[:, active[is_longer]] = np.stack([last.id, last.kind, last.end, until])[:, is_longer]
            active, before, until = active[goes_on], last.id[goes_on], last.start[goes_on]
        kept = np.flatnonzero(found[3] > found[2])
        zeros, sure = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.bool_)
        call, kind, start, end = found[:, kept]
        return Blocked(call, kind, known.how[kept], start, end, zeros, sure, sure)


@dataclass(frozen=True, slots=True)
class _Pending:
    """Calls that registered a callback for an event that had not fired, in columns.

    `there` is the earliest time when the awaited data can have been ready: the time when its source was ready, noticed
    in the call `noticed_in`. At `fired`, the data was ready. `FOREVER`: never, -1: unknown.
    """

    calls: Calls
    how: Integers
    there: Integers
    fired: Integers
    noticed_in: Integers

    def __len__(self) -> int:
        return len(self.how)

    def __getitem__(self, rows: Integers) -> _Pending:
        return _Pending(*(getattr(self, name)[rows] for name in self.__slots__))
