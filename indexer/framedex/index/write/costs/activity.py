"""The activity of a capture's threads in the runtime: calls, waits, and the loops around them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.loops import LoopFinder, LoopKey, LoopRounds, ThreadEvents, find_loop_keys
from framedex.index.write.costs.pieces import FOREVER
from framedex.index.write.costs.program_code import ProgramCode
from framedex.index.write.costs.timeline import (
    AWAIT_FUNCTION,
    HOST_COPY_FUNCTIONS,
    NO_CALLBACKS,
    ON_READY_FUNCTION,
    READY_EVENT_FUNCTION,
    UNSAFE_POINTER_FUNCTION,
    CallbackTimes,
    CallColumns,
    EventColumns,
    KindColumns,
    ThreadCalls,
    assign_requested_calls,
    find_data_functions,
    read_event_addresses,
)
from framedex.index.write.costs.wait_detection import WaitColumns, find_waits
from framedex.index.write.programs import COMPILE_FUNCTIONS, EXECUTE_FUNCTION, LOAD_FUNCTIONS
from framedex.index.write.tree import NodeColumns, read_nodes

TRANSFER_FUNCTIONS = find_data_functions() | HOST_COPY_FUNCTIONS
"""Functions of the C API that transfer data."""

_WORK_FUNCTIONS = frozenset(
    {*COMPILE_FUNCTIONS, *LOAD_FUNCTIONS, EXECUTE_FUNCTION, *TRANSFER_FUNCTIONS, READY_EVENT_FUNCTION}
)


@dataclass(frozen=True, slots=True)
class CaptureActivity:
    """The calls of a capture that work, transfer or wait, with its events, its waits, and the loops of its threads."""

    kinds: KindColumns
    calls: CallColumns
    events: EventColumns
    threads: ThreadCalls
    waits: WaitColumns
    loops: tuple[LoopRounds, ...]
    code: ProgramCode

    @classmethod
    def read(
        cls,
        connection: sqlite3.Connection,
        capture: int,
        callbacks: CallbackTimes = NO_CALLBACKS,
        nodes: NodeColumns | None = None,
    ) -> CaptureActivity:
        """Return the activity of a capture. `nodes` are the nodes of the index."""
        kinds = KindColumns.read(connection, capture)
        calls = CallColumns.read_calls_of_kinds(
            connection,
            capture,
            kinds.find_kinds({*_WORK_FUNCTIONS, ON_READY_FUNCTION, AWAIT_FUNCTION, UNSAFE_POINTER_FUNCTION}),
        )
        kinds, calls = assign_requested_calls(connection, capture, kinds, calls)
        events = _read_events(connection, capture, calls, callbacks)
        threads = ThreadCalls(connection, capture, kinds)
        waits = find_waits(connection, capture, calls, kinds, events, callbacks, threads)
        code = ProgramCode(connection, capture, nodes or read_nodes(connection))
        finder = LoopFinder(connection, kinds, code)
        loops = (
            rounds for thread, marks in _build_marks(kinds, calls, waits) for rounds in finder.loops(thread, marks)
        )
        return cls(kinds, calls, events, threads, waits, tuple(loops), code)

    def find_loop_keys(self, nodes: Integers) -> dict[int, list[LoopKey]]:
        """Return the keys of the loops around each of these nodes, innermost first."""
        found = {rounds.key for rounds in self.loops}
        known = find_loop_keys(self.code, np.unique(nodes).tolist()) if found else {}
        return {node: [key for key in keys if key in found] for node, keys in known.items()}

    def find_round_starts(self, key: LoopKey) -> Integers:
        """Return the start times of the iterations of a loop on all threads, in order (ns)."""
        return np.sort(np.concatenate([rounds.start for rounds in self.loops if rounds.key == key]))


def _read_events(
    connection: sqlite3.Connection, capture: int, calls: CallColumns, callbacks: CallbackTimes
) -> EventColumns:
    """Return the events of a capture, with the times when their callbacks were invoked."""
    events = EventColumns.read(connection, capture)
    row = calls.find_rows(callbacks.call)
    registering = calls[row[row >= 0]]
    event = events.find_events(read_event_addresses(connection, registering), registering.start)
    return events.apply_callbacks(event, callbacks.invoked_at[row >= 0])


def _build_marks(kinds: KindColumns, calls: CallColumns, waits: WaitColumns) -> Iterator[tuple[int, ThreadEvents]]:
    """Yield the calls and waits that Python caused on each thread, in order of start."""
    node, thread = kinds.node[calls.kind], kinds.thread[calls.kind]
    is_mark = np.isin(calls.kind, kinds.find_kinds(_WORK_FUNCTIONS)) & (node > 0)
    gaps = waits[np.flatnonzero(waits.time_in_call == 0)]
    for each in np.unique(thread[is_mark]).tolist():
        of_thread = calls[np.flatnonzero(is_mark & (thread == each) & (calls.end < FOREVER))]
        own = gaps[np.flatnonzero(kinds.thread[gaps.kind] == each)]
        marks = ThreadEvents(
            np.concatenate([of_thread.kind, own.kind]),
            np.concatenate([of_thread.start, own.start]),
            np.concatenate([of_thread.end, own.end]),
            np.concatenate([of_thread.id, own.call]),
            np.concatenate([of_thread.arguments, np.zeros(len(own), np.int64)]),
            np.arange(len(of_thread) + len(own)) >= len(of_thread),
        )
        if len(marks):
            yield each, marks[np.argsort(marks.start, kind="stable")]
