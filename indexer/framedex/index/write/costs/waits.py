"""Writing where threads of Python waited for the runtime, and the steps of their loops; made when a capture is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from framedex.index.write.costs.blocked import HOWS, Blocked, blocked
from framedex.index.write.costs.loops import MOST_LOOPS, Marks, Rounds, loops
from framedex.index.write.costs.memory_lines import Ways
from framedex.index.write.costs.pieces import FOREVER, highest_of_parts
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

MOST_STEPS = 2_000
"""Steps of a loop that are kept: of more, the longest of equal numbers of them."""

_TABLES = ("wait_totals", "waits", "loops", "loop_steps")


def write_waits(connection: sqlite3.Connection, capture: int) -> None:
    """Write where the threads of a capture waited, in place of what is there of it."""
    forget_waits(connection, capture)
    kinds = Kinds.of(connection, capture)
    moves = moves_data() | COPIES
    wanted = {*COMPILES, *LOADS, RUNS, *moves, READY_EVENT, ON_READY, AWAIT, POINTER}
    calls = Calls.of_kinds(connection, capture, kinds.of_functions(wanted))
    if not len(calls):
        return
    threads = Threads(connection, capture, kinds)
    events = Events.of(connection, capture)
    found = blocked(connection, capture, calls, kinds, events, threads)
    _write_totals(connection, capture, calls, kinds, events, threads)
    _write_waits(connection, capture, found, kinds)
    works = {"compile": COMPILES | LOADS, "dispatch": {RUNS}, "transfer": moves}
    of_work = {name: np.isin(calls.kind, kinds.of_functions(functions)) for name, functions in works.items()}
    is_mark = np.isin(calls.kind, kinds.of_functions({*COMPILES, *LOADS, RUNS, *moves, READY_EVENT}))
    _LoopWriter(connection, capture, calls, kinds, found, of_work).write(is_mark)


def forget_waits(connection: sqlite3.Connection, capture: int) -> None:
    """Remove where the threads of a capture waited, and its loops."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def _write_totals(
    connection: sqlite3.Connection, capture: int, calls: Calls, kinds: Kinds, events: Events, threads: Threads
) -> None:
    """How long was recorded, and in how much of that a program was under way: from a run's call to its event."""
    runs = calls[np.flatnonzero(np.isin(calls.kind, kinds.of_functions({RUNS})))]
    fired = events.fired_of(runs.id)
    known = np.flatnonzero((fired >= 0) & (fired < FOREVER))
    device = _covered(runs.start[known], fired[known]) if len(known) or not len(runs) else None
    values = (capture, threads.ended() - threads.began(), device)
    connection.execute("INSERT INTO wait_totals(capture, recorded, device) VALUES (?, ?, ?)", values)


def _covered(start: Integers, end: Integers) -> int:
    """How long at least one of these lasts."""
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate(end[order])
    since = np.maximum(start[order], np.append(0, until[:-1]))
    return int(np.maximum(until - since, 0).sum())


def _write_waits(connection: sqlite3.Connection, capture: int, found: Blocked, kinds: Kinds) -> None:
    """The waits of each thread, by the way of lines of the program that led to them."""
    node = kinds.node[found.kind]
    ways = Ways(connection, np.unique(node).tolist())
    number: dict[tuple[int, ...], int] = {}
    first_of = {each: number.setdefault(ways.way(each), each) for each in np.unique(node).tolist()}
    key = np.array([first_of[each] for each in node.tolist()], np.int64)
    order = np.lexsort((found.call, key, found.how, kinds.thread[found.kind]))
    groups = np.stack([kinds.thread[found.kind], found.how, key])[:, order]
    begins = np.flatnonzero(np.append(True, (groups[:, 1:] != groups[:, :-1]).any(axis=0))[: len(order)])
    rows = []
    for begin, members in zip(begins.tolist(), np.split(order, begins[1:]), strict=False):
        thread, how, of_node = groups[:, begin].tolist()
        taken = found.end[members] - found.start[members]
        rows.append(
            (
                *(capture, thread, HOWS[how].value, of_node, len(members), int(found.is_unsure[members].sum())),
                *(int(taken.sum()), int(np.max(taken)), int(found.call[members[np.argmax(taken)]])),
                *(int(found.call[members[0]]), int(found.call[members[-1]])),
            )
        )
    connection.executemany(f"INSERT INTO waits VALUES ({', '.join('?' * 11)})", rows)


class _LoopWriter:
    """Writes the loops of a capture."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        capture: int,
        calls: Calls,
        kinds: Kinds,
        waits: Blocked,
        of_work: dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]],
    ) -> None:
        self._connection = connection
        self._capture = capture
        self._calls = calls
        self._kinds = kinds
        self._waits = waits
        self._of_work = of_work

    def write(self, is_mark: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Write those that took longest."""
        found = sorted(self._loops(is_mark), key=lambda each: -each[2].duration)[:MOST_LOOPS]
        for number, (thread, marks, rounds) in enumerate(found, 1):
            self._write(number, thread, marks, rounds)

    def _loops(self, is_mark: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[tuple[int, Marks, Rounds]]:
        node, thread = self._kinds.node[self._calls.kind], self._kinds.thread[self._calls.kind]
        of_gap = np.flatnonzero(self._waits.in_call == 0)
        gaps = self._waits[of_gap]
        for each in np.unique(thread[is_mark & (node > 0)]).tolist():
            calls = self._calls[np.flatnonzero(is_mark & (node > 0) & (thread == each) & (self._calls.end < FOREVER))]
            own = gaps[np.flatnonzero(self._kinds.thread[gaps.kind] == each)]
            kind = np.concatenate([calls.kind, own.kind])
            marks = Marks(
                self._kinds.node[kind],
                self._kinds.stack[kind],
                np.concatenate([calls.start, own.start]),
                np.concatenate([calls.end, own.end]),
                np.concatenate([calls.id, own.call]),
                np.isin(kind, self._kinds.of_functions({RUNS})),
            )
            marks = marks[np.argsort(marks.start, kind="stable")]
            for rounds in loops(marks):
                yield each, marks, rounds

    def _write(self, number: int, thread: int, marks: Marks, rounds: Rounds) -> None:
        duration = rounds.end - rounds.start
        spent = np.stack([*self._spent(thread, rounds)])
        values = (*map(int, spent.sum(axis=1)),)
        self._connection.execute(
            f"INSERT INTO loops VALUES ({', '.join('?' * 12)})",
            (
                *(self._capture, number, thread, self._node(rounds), len(rounds), int(rounds.start[0])),
                *(rounds.duration, int(np.median(duration)), *values),
            ),
        )
        shown = highest_of_parts(duration, MOST_STEPS)
        columns = (shown + 1, rounds.start[shown], duration[shown], *spent[:, shown], marks.call[rounds.mark[shown]])
        self._connection.executemany(
            f"INSERT INTO loop_steps VALUES ({', '.join('?' * 10)})",
            ((self._capture, number, *row) for row in zip(*(column.tolist() for column in columns), strict=True)),
        )

    def _spent(self, thread: int, rounds: Rounds) -> Iterator[Integers]:
        """What of each round its thread spent on compiling, dispatching, transfers and waiting, in ns."""
        calls, waits = self._calls, self._waits
        is_own = self._kinds.thread[calls.kind] == thread
        is_outer = calls.rows_of(calls.inside) < 0
        of_waits = np.flatnonzero(self._kinds.thread[waits.kind] == thread)
        for of_work in self._of_work.values():
            rows = np.flatnonzero(of_work & is_own & is_outer & (calls.end < FOREVER))
            blocking = of_waits[np.isin(waits.call[of_waits], calls.id[rows])]
            yield _by_round(rounds, calls.start[rows], calls.end[rows] - calls.start[rows]) - _by_round(
                rounds, waits.start[blocking], waits.in_call[blocking]
            )
        yield _by_round(rounds, waits.start[of_waits], waits.end[of_waits] - waits.start[of_waits])

    def _node(self, rounds: Rounds) -> int:
        """The place that tells what the loop is: the outermost of those that each round passes, the first of them."""
        ways = Ways(self._connection, rounds.nodes)
        return min(rounds.nodes, key=lambda node: len(ways.way(node)))


def _by_round(rounds: Rounds, start: Integers, length: Integers) -> Integers:
    """What these lengths come to in each round, by when they begin."""
    place = np.searchsorted(rounds.start, start, side="right") - 1
    inside = np.flatnonzero((place >= 0) & (start < rounds.end[np.maximum(place, 0)]))
    return np.bincount(place[inside], length[inside], len(rounds)).astype(np.int64)
