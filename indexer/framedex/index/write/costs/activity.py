"""The runtime activity of a capture's threads, their waits, and the loops around both."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from framedex.index.write.costs.blocked import Blocked, blocked
from framedex.index.write.costs.loops import LoopFinder, LoopKey, Marks, Rounds, keys_of_nodes
from framedex.index.write.costs.pieces import FOREVER
from framedex.index.write.costs.program_code import ProgramCode
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
    moves_data,
)
from framedex.index.write.programs import COMPILES, LOADS, RUNS
from framedex.index.write.tree import Integers

MOVES_DATA = moves_data() | COPIES
"""Functions that transfer data."""

_WORKS = frozenset({*COMPILES, *LOADS, RUNS, *MOVES_DATA, READY_EVENT})


@dataclass(frozen=True, slots=True)
class Activity:
    """The calls of a capture that work, transfer or wait, with its events, its waits, and the loops of its threads."""

    kinds: Kinds
    calls: Calls
    events: Events
    threads: Threads
    waits: Blocked
    loops: tuple[Rounds, ...]
    code: ProgramCode

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int) -> Activity:
        """Return the activity of a capture."""
        kinds = Kinds.of(connection, capture)
        calls = Calls.of_kinds(connection, capture, kinds.of_functions({*_WORKS, ON_READY, AWAIT, POINTER}))
        events, threads = Events.of(connection, capture), Threads(connection, capture, kinds)
        waits = blocked(connection, capture, calls, kinds, events, threads)
        code = ProgramCode(connection, capture)
        finder = LoopFinder(connection, kinds, code)
        loops = (rounds for thread, marks in _marks(kinds, calls, waits) for rounds in finder.loops(thread, marks))
        return cls(kinds, calls, events, threads, waits, tuple(loops), code)

    def rounds_around(self, nodes: Integers) -> dict[int, list[LoopKey]]:
        """Return for each node of a line the keys of the loops around it, innermost first."""
        found = {rounds.key for rounds in self.loops}
        known = keys_of_nodes(self.code, np.unique(nodes).tolist()) if found else {}
        return {node: [key for key in keys if key in found] for node, keys in known.items()}

    def starts(self, key: LoopKey) -> Integers:
        """Return the start times of the rounds of a loop on all threads, in order (ns)."""
        return np.sort(np.concatenate([rounds.start for rounds in self.loops if rounds.key == key]))


def _marks(kinds: Kinds, calls: Calls, waits: Blocked) -> Iterator[tuple[int, Marks]]:
    """Yield the calls and waits that Python caused on each thread, in order of start."""
    node, thread = kinds.node[calls.kind], kinds.thread[calls.kind]
    is_mark = np.isin(calls.kind, kinds.of_functions(_WORKS)) & (node > 0)
    gaps = waits[np.flatnonzero(waits.in_call == 0)]
    for each in np.unique(thread[is_mark]).tolist():
        of_thread = calls[np.flatnonzero(is_mark & (thread == each) & (calls.end < FOREVER))]
        own = gaps[np.flatnonzero(kinds.thread[gaps.kind] == each)]
        marks = Marks(
            np.concatenate([of_thread.kind, own.kind]),
            np.concatenate([of_thread.start, own.start]),
            np.concatenate([of_thread.end, own.end]),
            np.concatenate([of_thread.id, own.call]),
            np.concatenate([of_thread.arguments, np.zeros(len(own), np.int64)]),
            np.arange(len(of_thread) + len(own)) >= len(of_thread),
        )
        if len(marks):
            yield each, marks[np.argsort(marks.start, kind="stable")]
