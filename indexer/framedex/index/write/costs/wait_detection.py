"""Find the times when Python threads were blocked on the runtime.

Most of this time is outside of calls. jaxlib registers a callback for an event with `PJRT_Event_OnReady`, which returns
at once. The thread then waits inside jaxlib. So the wait is the gap between two calls of the thread: the last call
before the event fired, and the next one. The invocation of the callback records when the event fired. In captures of
earlier versions, which lack invocations, the call that destroys the event records it. The wait ends then, or at the
thread's next call if that is earlier, because a callback may run late. An event that has already fired blocks no
thread.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.pieces import FOREVER, OBJECTS_FROM, read_columns
from framedex.index.write.costs.timeline import (
    AWAIT_FUNCTION,
    HOST_COPY_FUNCTIONS,
    ON_READY_FUNCTION,
    READY_EVENT_FUNCTION,
    UNSAFE_POINTER_FUNCTION,
    Booleans,
    CallbackTimes,
    CallColumns,
    EventColumns,
    KindColumns,
    ThreadCalls,
    find_data_functions,
    find_objects_at,
    read_buffer_addresses,
    read_event_addresses,
)
from framedex.index.write.programs import EXECUTE_FUNCTION
from framedex.model.costs import WaitReason

MIN_BLOCKING_CALL_NS = 1_000_000
"""The minimum duration (ns) at which a call that also works counts as a blocking call."""

WAIT_REASONS = tuple(WaitReason)
_READY, _COPY, _RUN = (WAIT_REASONS.index(how) for how in (WaitReason.READY, WaitReason.COPY, WaitReason.RUN))

_MAX_CALLS_ON_LINE = 32  # the number of a line's calls to search for the gap in which its event fired
_MAX_DELAY_DIVISOR = 2  # a thread may notice the end of a wait late, by up to the waiting time divided by this
_SLOW_FACTOR = 3  # a run that waited for an earlier run takes this many times as long as the quickest of its kind
# Functions that only query an array or start a copy, in JAX (jax/_src/array.py) and jaxlib (py_array.cc).
_QUERY_FUNCTIONS = (
    "fn.name = 'ArrayImpl.copy_to_host_async' AND fn.language = 'python'"
    " OR fn.name LIKE '%PyArray::IsReady' AND fn.language = 'native'"
)
# Functions that fetch an array's value and wait for it.
_READ_FUNCTIONS = "fn.name = 'ArrayImpl._value' AND fn.language = 'python'"


@dataclass(frozen=True, slots=True)
class WaitColumns:
    """Waits of threads, in columns, in order of `call`.

    `call` is the call in or after which the thread was blocked. `reason` is an index into `WAIT_REASONS`. `start` and
    `end` are in ns. `time_in_call` is the part of the wait that was inside the call. `run` is the call that ran the
    awaited program, `event` the id of the awaited event; 0: unknown. If `is_unsure`, the time when the awaited data was
    ready is not recorded, and the wait ends with the thread's next call. If `is_unended`, the wait had not ended when
    the recording ended.
    """

    call: Integers
    kind: Integers
    reason: Integers
    start: Integers
    end: Integers
    time_in_call: Integers
    run: Integers
    event: Integers
    is_unsure: Booleans
    is_unended: Booleans

    @classmethod
    def merge(cls, parts: list[WaitColumns]) -> WaitColumns:
        """Merge waits: of several waits after one call, keep the one that ended last."""
        whole = cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))
        order = np.lexsort((whole.end, whole.call))
        is_last = np.append(whole.call[order][1:] != whole.call[order][:-1], True)[: len(order)]
        return whole[order[is_last]]

    def __len__(self) -> int:
        return len(self.call)

    def __getitem__(self, rows: Integers) -> WaitColumns:
        return WaitColumns(*(getattr(self, name)[rows] for name in self.__slots__))


def find_waits(
    connection: sqlite3.Connection,
    capture: int,
    calls: CallColumns,
    kinds: KindColumns,
    events: EventColumns,
    callbacks: CallbackTimes,
    threads: ThreadCalls,
) -> WaitColumns:
    """Return the waits of a capture's threads; `calls` must include all calls of the needed functions."""
    if not len(calls):
        return WaitColumns(*(np.zeros(0, np.int64),) * 8, *(np.zeros(0, np.bool_),) * 2)
    is_python = kinds.node[calls.kind] > 0
    finder = _WaitFinder(connection, capture, calls, kinds, events, callbacks, threads)
    return WaitColumns.merge(
        [finder.find_after_callbacks(is_python), finder.find_in_calls(is_python), finder.find_in_runs(is_python)]
    )


@dataclass(frozen=True, slots=True)
class _WaitFinder:
    connection: sqlite3.Connection
    capture: int
    calls: CallColumns
    kinds: KindColumns
    events: EventColumns
    callbacks: CallbackTimes
    threads: ThreadCalls

    def _is_call_of(self, *names: str) -> Booleans:
        return np.isin(self.calls.kind, self.kinds.find_kinds(names))

    # Blocked in a call

    def find_in_calls(self, is_python: Booleans) -> WaitColumns:
        """Return the waits in calls: in `PJRT_Event_Await`, and in other calls of at least `MIN_BLOCKING_CALL_NS`."""
        duration = self._compute_durations()
        is_copy = self._is_call_of(*HOST_COPY_FUNCTIONS)
        is_await = self._is_call_of(AWAIT_FUNCTION)
        is_long = (duration >= MIN_BLOCKING_CALL_NS) | (self.calls.end == FOREVER)
        rows = np.flatnonzero(
            is_python & (is_await | ((is_copy | self._is_call_of(UNSAFE_POINTER_FUNCTION)) & is_long))
        )
        event = np.full(len(rows), -1)
        places = np.flatnonzero(is_await[rows])
        event[places] = self._find_events(self.calls[rows[places]])
        creator = self._find_creating_calls(event)
        how = np.where(is_copy[rows] | ((creator >= 0) & is_copy[creator]), _COPY, _READY)
        run = self._find_runs(np.where(creator >= 0, creator, rows))
        return self._build_waits(rows, how, duration[rows], run, np.append(self.events.id, 0)[event])

    def _find_creating_calls(self, events: Integers) -> Integers:
        """Return the rows of the calls that created these events; -1: unknown."""
        return self.calls.find_rows(np.append(self.events.created_by, -1)[events])

    def _find_events(self, calls: CallColumns) -> Integers:
        return self.events.find_events(read_event_addresses(self.connection, calls), calls.start)

    def _compute_durations(self) -> Integers:
        """Return the durations of the calls. A call that never returned lasts until the recording ended."""
        ended = self.threads.read_last_end()
        return (
            np.where(self.calls.end < FOREVER, self.calls.end, np.maximum(ended, self.calls.start)) - self.calls.start
        )

    def _build_waits(
        self, rows: Integers, how: Integers, length: Integers, run: Integers, event: Integers
    ) -> WaitColumns:
        start = self.calls.start[rows]
        is_unsure = np.zeros(len(rows), np.bool_)
        is_unended = self.calls.end[rows] == FOREVER
        of_calls = self.calls.id[rows], self.calls.kind[rows]
        return WaitColumns(*of_calls, how, start, start + length, length, run, event, is_unsure, is_unended)

    def find_in_runs(self, is_python: Booleans) -> WaitColumns:
        """Return the waits in runs that ended within their call, never returned, or waited for an earlier run."""
        duration = self._compute_durations()
        is_run = self._is_call_of(EXECUTE_FUNCTION)
        runs = np.flatnonzero(is_run & is_python)
        fired = self.events.find_fired_times(self.calls.id[np.flatnonzero(is_run)])
        ends = np.sort(fired[(fired >= 0) & (fired < FOREVER)])
        is_open = self.calls.end[runs] == FOREVER
        rows = runs[(duration[runs] >= MIN_BLOCKING_CALL_NS) | is_open]
        start, took = self.calls.start[rows], duration[rows]
        # The thread continues after an earlier run has ended. It may notice the end a little later.
        latest = np.searchsorted(ends, start + took + took // _MAX_DELAY_DIVISOR, side="right") - 1
        freed = np.append(ends, 0)[latest]
        quickest = self._find_quickest_durations(runs, duration, rows)
        is_freed = (freed > start) & (took >= _SLOW_FACTOR * quickest)
        own = self.events.find_fired_times(self.calls.id[rows])
        is_open = self.calls.end[rows] == FOREVER
        has_ended = is_open | ((own >= 0) & self._is_noticed_at_once(rows))
        length = np.where(has_ended, took, np.where(is_freed, took - quickest, 0))
        kept = is_open | (length > 0)
        unknown = np.zeros(int(kept.sum()), np.int64)
        return self._build_waits(rows[kept], np.full_like(unknown, _RUN), length[kept], unknown, unknown)

    def _find_quickest_durations(self, runs: Integers, duration: Integers, rows: Integers) -> Integers:
        """Return for each of these runs the 10th percentile of the durations of its kind."""
        kind = self.calls.kind[runs]
        order = np.lexsort((duration[runs], kind))
        known, first, count = np.unique(kind[order], return_index=True, return_counts=True)
        tenth: Integers = duration[runs][order][first + count // 10]
        return tenth[np.searchsorted(known, self.calls.kind[rows])]

    def _is_noticed_at_once(self, rows: Integers) -> Booleans:
        """Return whether all events of each call had fired when their callbacks were registered."""
        first, end_index = self.events.find_event_ranges(self.calls.id[rows])
        noticed = self.calls.find_rows(self._find_enclosing_calls(self.events.noticed_in))
        is_at_once = np.append((noticed >= 0) & self._is_call_of(ON_READY_FUNCTION)[noticed], True)
        count = np.concatenate([[0], np.cumsum(~is_at_once)])
        found: Booleans = count[end_index] == count[first]
        return found

    def _find_enclosing_calls(self, calls: Integers) -> Integers:
        """Return the ids of the calls that enclose these calls; 0 if none."""
        known, position = np.unique(calls, return_inverse=True)
        query = "SELECT c.id, coalesce(c.id - c.inside, 0) FROM json_each(?) s JOIN call_rows c ON c.id = s.value"
        identifier, inside = read_columns(self.connection.execute(query, (str(known.tolist()),)), 2)
        outer = np.zeros(len(known), np.int64)
        outer[np.searchsorted(known, identifier)] = inside
        return outer[position]

    # Blocked after a call, until an event fired

    def find_after_callbacks(self, is_python: Booleans) -> WaitColumns:
        """Return the waits after calls that registered a callback for an event."""
        rows = np.flatnonzero(self._is_call_of(ON_READY_FUNCTION) & is_python)
        event = self._find_events(self.calls[rows])
        creator = self._find_creating_calls(event)
        of_interest = np.flatnonzero(
            (creator >= 0) & self._is_call_of(*HOST_COPY_FUNCTIONS, READY_EVENT_FUNCTION)[creator]
        )
        of_interest = of_interest[self._is_queried_by_creator(rows[of_interest], creator[of_interest])]
        pending = self._find_pending(rows[of_interest], event[of_interest], creator[of_interest])
        is_query = np.isin(self.kinds.stack[pending.calls.kind], self._find_stacks_through(_QUERY_FUNCTIONS))
        waiting, querying = pending[np.flatnonzero(~is_query)], pending[np.flatnonzero(is_query)]
        return WaitColumns.merge(
            [
                self._find_waits_on_line(waiting, is_query=False),
                self._find_waits_on_line(querying, is_query=True),
                self._find_waits_at_reads(querying),
            ]
        )

    def _is_queried_by_creator(self, rows: Integers, creators: Integers) -> Booleans:
        """Return whether the thread of each call itself created the event, as its latest one. jaxlib always does that.

        The address alone is ambiguous. A runtime may use one event for all events that have already fired, and an event
        may reuse the address of another thread's event.
        """
        thread = self.kinds.thread[self.calls.kind]
        making = np.flatnonzero(
            self._is_call_of(*HOST_COPY_FUNCTIONS, READY_EVENT_FUNCTION, EXECUTE_FUNCTION, *find_data_functions())
        )
        order = making[np.lexsort((making, thread[making]))]
        position = np.zeros(len(self.calls), np.int64)
        position[order] = np.arange(len(order))
        following = np.append(order, -1)[position[creators] + 1]
        is_other = (following < 0) | (thread[following] != thread[creators]) | (following > rows)
        found: Booleans = is_other & (thread[rows] == thread[creators])
        return found

    def _find_pending(self, rows: Integers, event: Integers, creator: Integers) -> _PendingCalls:
        """Return the calls whose event had not fired yet."""
        is_copy = self._is_call_of(*HOST_COPY_FUNCTIONS)[creator]
        run = self._find_runs(creator)
        result = self.events.find_last_events(run)
        ready = np.append(self.events.fired_at, -1)[result]
        invoked = self.callbacks.find_times(self.calls.id[rows])
        fired = np.where(invoked >= 0, invoked, np.where(is_copy, self.events.fired_at[event], ready))
        ready = np.where((invoked >= 0) & ((ready < 0) | ~is_copy), invoked, ready)
        end = self.calls.end[rows]
        # A copy waits for its source first.
        is_of_source = ~is_copy | ((ready > end) & (ready <= fired))
        waited = np.flatnonzero((fired < 0) | (fired > end))
        noticed_in = np.append(self.events.noticed_in, 0)[np.where(is_of_source, result, event)]
        return _PendingCalls(
            self.calls[rows[waited]],
            np.where(is_copy, _COPY, _READY)[waited],
            np.where(is_of_source, ready, fired)[waited],
            fired[waited],
            noticed_in[waited],
            run[waited],
            self.events.id[event[waited]],
        )

    def _find_runs(self, rows: Integers) -> Integers:
        """Return the call that ran the program that created each call's event or buffer; 0: unknown."""
        calls = self.calls[rows]
        query = (
            "SELECT o.address, o.born, coalesce(o.created_call, 0)"
            f" FROM {OBJECTS_FROM} WHERE t.capture = ? AND t.name = 'buffer'"
        )
        address, born, made = read_columns(self.connection.execute(query, (self.capture,)), 3)
        buffer = find_objects_at(address, born, read_buffer_addresses(self.connection, calls), calls.start)
        creator = np.append(made, 0)[buffer]
        row = self.calls.find_rows(creator)
        is_run = self._is_call_of(EXECUTE_FUNCTION)
        return np.where(is_run[rows], calls.id, np.where((row >= 0) & is_run[row], creator, 0))

    def _find_stacks_through(self, condition: str) -> Integers:
        """Return the stacks that contain a function with this condition."""
        query = (
            "WITH RECURSIVE down(node) AS ("
            " SELECT n.id FROM functions fn JOIN frames fr ON fr.function = fn.id JOIN nodes n ON n.frame = fr.id"
            f" WHERE {condition} UNION SELECT n.id FROM down JOIN nodes n ON n.parent = down.node)"
            " SELECT id FROM stacks WHERE leaf IN down OR python_leaf IN down"
        )
        return read_columns(self.connection.execute(query), 1)[0]

    def _find_waits_on_line(self, pending: _PendingCalls, *, is_query: bool) -> WaitColumns:
        """Return the waits on the line that registered the callback: the gap in which the event fired.

        The gap is between two calls of that line. If the event was noticed only after the thread had left the line, or
        never, the wait is the longest gap on that line. With `is_query`, this gap counts only if the thread noticed the
        event soon after it, because such a line need not wait.
        """
        ended, last_end = self.threads.read_end(), self.threads.read_last_end()
        line = self.kinds.node[pending.calls.kind]
        is_known = (pending.ready_at >= 0) & (pending.ready_at < FOREVER)
        found = np.zeros((4, len(pending)), np.int64)  # the call, its kind, its start and its end
        longest = np.zeros(len(pending), np.int64)
        is_unended = np.zeros(len(pending), np.bool_)
        active, last = np.arange(len(pending)), pending.calls
        for step in range(_MAX_CALLS_ON_LINE):
            if not len(active):
                break
            next_calls = self.threads.find_next_calls(last)
            is_last = next_calls.id == 0
            is_never_ready = pending.ready_at[active] == FOREVER
            recorded_end = np.where(is_never_ready, last_end, ended)
            fired = np.where(is_known[active], pending.fired_at[active], recorded_end)
            until = np.where(is_last, fired, next_calls.start)
            is_ready = is_known[active] & (pending.ready_at[active] <= until)
            until = np.where(is_ready, np.minimum(pending.fired_at[active], until), until)
            length = np.where(is_ready & is_query & (step == 0), 0, until - last.end)
            is_open = is_last & is_never_ready
            is_better = is_ready | is_open | (length > longest[active])
            longest[active[is_better]] = length[is_better]
            is_unended[active[is_better]] = is_open[is_better]
            found[:, active[is_better]] = np.stack([last.id, last.kind, last.end, until])[:, is_better]
            has_left = ~is_ready & (is_last | (self.kinds.node[next_calls.kind] != line[active]))
            if is_query:
                late = pending.fired_at[active] - found[3, active]
                is_late = is_known[active] & (late <= longest[active] // _MAX_DELAY_DIVISOR)
                longest[active[has_left & ~is_late]] = 0
            is_active = ~is_ready & ~has_left
            active, last = active[is_active], next_calls[np.flatnonzero(is_active)]
        if is_query:
            longest[active] = 0
        kept = np.flatnonzero(longest > 0 if is_query else (longest > 0) | is_unended)
        call, kind, start, end = found[:, kept]
        is_unsure = ~is_known[kept] & ~is_unended[kept]
        zeros, awaited = np.zeros(len(kept), np.int64), (pending.run[kept], pending.event[kept])
        return WaitColumns(call, kind, pending.reason[kept], start, end, zeros, *awaited, is_unsure, is_unended[kept])

    def _find_waits_at_reads(self, pending: _PendingCalls) -> WaitColumns:
        """Return the waits on lines that read a value after another line had started its copy.

        The wait is the longest gap after a call of the reading code, among the thread's last calls before the firing
        was noticed. The thread may have continued by then.
        """
        known = pending[np.flatnonzero((pending.ready_at >= 0) & (pending.ready_at < FOREVER))]
        thread, line = self.kinds.thread[known.calls.kind], self.kinds.node[known.calls.kind]
        readers = self._find_stacks_through(_READ_FUNCTIONS)
        found = np.zeros((4, len(known)), np.int64)  # the call, its kind, its start and its end
        active, until = np.arange(len(known)), known.fired_at.copy()
        before = known.noticed_in
        for _ in range(_MAX_CALLS_ON_LINE):
            if not len(active):
                break
            last = self.threads.find_previous_calls(before, thread[active])
            is_reading = np.isin(self.kinds.stack[last.kind], readers) & (self.kinds.node[last.kind] != line[active])
            gap = np.where(is_reading, until - last.end, 0)
            is_active = last.id > known.calls.id[active]
            is_longer = is_active & (gap > (found[3] - found[2])[active])
            found[:, active[is_longer]] = np.stack([last.id, last.kind, last.end, until])[:, is_longer]
            active, before, until = active[is_active], last.id[is_active], last.start[is_active]
        kept = np.flatnonzero(found[3] > found[2])
        zeros, sure = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.bool_)
        call, kind, start, end = found[:, kept]
        awaited = known.run[kept], known.event[kept]
        return WaitColumns(call, kind, known.reason[kept], start, end, zeros, *awaited, sure, sure)


@dataclass(frozen=True, slots=True)
class _PendingCalls:
    """Calls that registered a callback for an event that had not fired, in columns.

    `ready_at` is the earliest time at which the awaited data can have been ready: its source was ready, as the call
    `noticed_in` noticed. At `fired_at`, the data was ready. `FOREVER`: never, -1: unknown. `run` and `event` are as in
    `WaitColumns`.
    """

    calls: CallColumns
    reason: Integers
    ready_at: Integers
    fired_at: Integers
    noticed_in: Integers
    run: Integers
    event: Integers

    def __len__(self) -> int:
        return len(self.reason)

    def __getitem__(self, rows: Integers) -> _PendingCalls:
        return _PendingCalls(*(getattr(self, name)[rows] for name in self.__slots__))
