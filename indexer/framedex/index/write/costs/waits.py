"""Write the waits of Python threads for the runtime, and the steps of their loops, when a capture is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from framedex.index.write.costs.activity import MOVES_DATA, Activity
from framedex.index.write.costs.blocked import HOWS, Blocked
from framedex.index.write.costs.loops import Rounds
from framedex.index.write.costs.memory_lines import Ways
from framedex.index.write.costs.pieces import FOREVER, highest_of_parts
from framedex.index.write.costs.timeline import Kinds
from framedex.index.write.costs.unseen import unseen
from framedex.index.write.programs import COMPILES, LOADS, RUNS
from framedex.index.write.tree import Integers

MOST_LOOPS = 20
"""The maximum number of stored loops of a capture: the longest."""

MOST_STEPS = 2_000
"""The maximum number of stored steps of a loop. Of more, the longest of each of equal parts is stored."""

_LEAST_SHARE = 100  # the minimum time of a loop: a hundredth of its thread's time
_TABLES = ("wait_totals", "waits", "loops", "loop_steps")


def write_waits(connection: sqlite3.Connection, capture: int, activity: Activity) -> None:
    """Write the waits and loops of a capture's threads, replacing the stored rows."""
    forget_waits(connection, capture)
    if not len(activity.calls):
        return
    _write_totals(connection, capture, activity)
    _write_waits(connection, capture, activity.waits, activity.kinds)
    _LoopWriter(connection, capture, activity).write()


def forget_waits(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the waits and loops of a capture's threads."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def _write_totals(connection: sqlite3.Connection, capture: int, activity: Activity) -> None:
    """Write the recorded duration, and the part in which a program was running: from a run's call to its event."""
    calls, kinds, events, threads = activity.calls, activity.kinds, activity.events, activity.threads
    runs = calls[np.flatnonzero(np.isin(calls.kind, kinds.of_functions({RUNS})))]
    fired = events.fired_of(runs.id)
    known = np.flatnonzero((fired >= 0) & (fired < FOREVER))
    device = _covered(runs.start[known], fired[known]) if len(known) or not len(runs) else None
    hidden = unseen(activity)
    values = (capture, threads.ended() - threads.began(), device, hidden.duration, hidden.times, hidden.call)
    connection.execute("INSERT INTO wait_totals VALUES (?, ?, ?, ?, ?, ?)", values)


def _covered(start: Integers, end: Integers) -> int:
    """Return the total time covered by at least one of these intervals."""
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate(end[order])
    since = np.maximum(start[order], np.append(0, until[:-1]))
    return int(np.maximum(until - since, 0).sum())


def _write_waits(connection: sqlite3.Connection, capture: int, found: Blocked, kinds: Kinds) -> None:
    """Write the waits of each thread, grouped by the sequence of the program's lines that led to them."""
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
                int(found.is_unended[members].sum()),
                *(int(taken.sum()), int(np.max(taken)), int(found.call[members[np.argmax(taken)]])),
                *(int(found.call[members[0]]), int(found.call[members[-1]])),
            )
        )
    connection.executemany(f"INSERT INTO waits VALUES ({', '.join('?' * 12)})", rows)


class _LoopWriter:
    """Writes the loops of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, activity: Activity) -> None:
        self._connection = connection
        self._capture = capture
        self._calls = activity.calls
        self._kinds = activity.kinds
        self._waits = activity.waits
        self._loops = activity.loops
        works = (COMPILES | LOADS, {RUNS}, MOVES_DATA)
        self._works = [np.isin(self._calls.kind, self._kinds.of_functions(functions)) for functions in works]

    def write(self) -> None:
        """Write the longest loops that take a significant part of their thread's time."""
        whole = {thread: self._recorded_time(thread) for thread in {rounds.thread for rounds in self._loops}}
        kept = [rounds for rounds in self._loops if rounds.duration * _LEAST_SHARE >= whole[rounds.thread]]
        kept.sort(key=lambda rounds: (-rounds.duration, -len(rounds)))
        for number, rounds in enumerate(kept[:MOST_LOOPS], 1):
            self._write(number, rounds)

    def _recorded_time(self, thread: int) -> int:
        """Return the time from a thread's first call to the end of its last, ns."""
        calls = self._calls
        rows = np.flatnonzero((self._kinds.thread[calls.kind] == thread) & (calls.end < FOREVER))
        return int(np.max(calls.end[rows]) - calls.start[rows[0]])

    def _write(self, number: int, rounds: Rounds) -> None:
        duration = rounds.end - rounds.start
        spent = np.stack([*self._spent(rounds)])
        values = (*map(int, spent.sum(axis=1)),)
        self._connection.execute(
            f"INSERT INTO loops VALUES ({', '.join('?' * 12)})",
            (
                *(self._capture, number, rounds.thread, rounds.node, len(rounds), int(rounds.start[0])),
                *(rounds.duration, int(np.median(duration)), *values),
            ),
        )
        shown = highest_of_parts(duration, MOST_STEPS)
        columns = (shown + 1, rounds.start[shown], duration[shown], *spent[:, shown], rounds.call[shown])
        self._connection.executemany(
            f"INSERT INTO loop_steps VALUES ({', '.join('?' * 10)})",
            ((self._capture, number, *row) for row in zip(*(column.tolist() for column in columns), strict=True)),
        )

    def _spent(self, rounds: Rounds) -> Iterator[Integers]:
        """Yield the time per round that its thread spent on compiling, dispatching, transfers and waiting, in ns."""
        calls, waits = self._calls, self._waits
        is_own = self._kinds.thread[calls.kind] == rounds.thread
        is_outer = calls.rows_of(calls.inside) < 0
        of_waits = np.flatnonzero(self._kinds.thread[waits.kind] == rounds.thread)
        for of_work in self._works:
            rows = np.flatnonzero(of_work & is_own & is_outer & (calls.end < FOREVER))
            blocking = of_waits[np.isin(waits.call[of_waits], calls.id[rows])]
            yield _by_round(rounds, calls.start[rows], calls.end[rows] - calls.start[rows]) - _by_round(
                rounds, waits.start[blocking], waits.in_call[blocking]
            )
        yield _by_round(rounds, waits.start[of_waits], waits.end[of_waits] - waits.start[of_waits])


def _by_round(rounds: Rounds, start: Integers, length: Integers) -> Integers:
    """Return the sum of these lengths in each round, by their start."""
    place = np.searchsorted(rounds.start, start, side="right") - 1
    inside = np.flatnonzero((place >= 0) & (start < rounds.end[np.maximum(place, 0)]))
    return np.bincount(place[inside], length[inside], len(rounds)).astype(np.int64)
