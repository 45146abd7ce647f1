"""Write the waits of Python threads for the runtime, and the steps of their loops.

A wait that no call records, as in `jax.effects_barrier`, is only counted as possible.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.activity import TRANSFER_FUNCTIONS, CaptureActivity
from framedex.index.write.costs.loops import LoopRounds
from framedex.index.write.costs.pieces import FOREVER, select_peaks
from framedex.index.write.costs.program_code import number_line_paths
from framedex.index.write.costs.timeline import KindColumns
from framedex.index.write.costs.wait_detection import WAIT_REASONS, WaitColumns
from framedex.index.write.programs import COMPILE_FUNCTIONS, EXECUTE_FUNCTION, LOAD_FUNCTIONS
from framedex.index.write.tree import NodeColumns

MAX_LOOPS = 20
"""The maximum number of stored loops of a capture. The longest loops are stored."""

MAX_STEPS = 2_000
"""The maximum number of stored steps of a loop: of a longer loop, the longest step of each equal part."""

_MIN_SHARE_DIVISOR = 100  # the minimum time of a loop: a hundredth of its thread's time
_TABLES = ("wait_totals", "waits", "loops", "loop_steps")


def write_waits(connection: sqlite3.Connection, capture: int, activity: CaptureActivity) -> None:
    """Write the waits and loops of a capture's threads, replacing the stored rows."""
    delete_waits(connection, capture)
    if not len(activity.calls):
        return
    _write_totals(connection, capture, activity)
    _write_waits(connection, capture, activity.waits, activity.kinds, activity.code.nodes)
    _LoopWriter(connection, capture, activity).write()


def delete_waits(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the waits and loops of a capture's threads."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def _write_totals(connection: sqlite3.Connection, capture: int, activity: CaptureActivity) -> None:
    """Write the duration of the recording, and its part in which programs ran: from a run's call to its event.

    The recording ends with the last call, or with the program if an event had not fired.
    """
    calls, kinds, events, threads = activity.calls, activity.kinds, activity.events, activity.threads
    runs = calls[np.flatnonzero(np.isin(calls.kind, kinds.find_kinds({EXECUTE_FUNCTION})))]
    fired = events.find_fired_times(runs.id)
    known = np.flatnonzero((fired >= 0) & (fired < FOREVER))
    device = _compute_covered_time(runs.start[known], fired[known]) if len(known) or not len(runs) else None
    hidden = find_unseen_waits(activity)
    values = (
        capture,
        (threads.read_last_end() if events.has_pending else threads.read_end()) - threads.read_start(),
        device,
        hidden.duration,
        hidden.count,
        hidden.call,
    )
    connection.execute("INSERT INTO wait_totals VALUES (?, ?, ?, ?, ?, ?)", values)


def _compute_covered_time(start: Integers, end: Integers) -> int:
    """Return the total time covered by at least one of these intervals."""
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate(end[order])
    since = np.maximum(start[order], np.append(0, until[:-1]))
    return int(np.maximum(until - since, 0).sum())


def _write_waits(
    connection: sqlite3.Connection, capture: int, found: WaitColumns, kinds: KindColumns, tree: NodeColumns
) -> None:
    """Write the waits of each thread, grouped by the sequence of the program's lines that led to them."""
    node = kinds.node[found.kind]
    known, position = np.unique(node, return_inverse=True)
    is_known = known > 0
    _, first, path = np.unique(
        number_line_paths(connection, tree, known[is_known])[1], return_index=True, return_inverse=True
    )
    first_of = known.copy()  # the first node with the same sequence of lines
    first_of[is_known] = known[is_known][first[path]]
    key = first_of[position]
    order = np.lexsort((found.call, key, found.reason, kinds.thread[found.kind]))
    groups = np.stack([kinds.thread[found.kind], found.reason, key])[:, order]
    begins = np.flatnonzero(np.append(True, (groups[:, 1:] != groups[:, :-1]).any(axis=0))[: len(order)])
    rows = []
    for begin, members in zip(begins.tolist(), np.split(order, begins[1:]), strict=False):
        thread, how, of_node = groups[:, begin].tolist()
        taken = found.end[members] - found.start[members]
        longest = members[np.argmax(taken)]
        rows.append(
            (
                *(capture, thread, WAIT_REASONS[how].value, of_node, len(members), int(found.is_unsure[members].sum())),
                int(found.is_unended[members].sum()),
                *(int(taken.sum()), int(np.max(taken)), int(found.call[longest])),
                *(int(found.run[longest]) or None, int(found.event[longest]) or None),
                *(int(found.call[members[0]]), int(found.call[members[-1]])),
            )
        )
    connection.executemany(f"INSERT INTO waits VALUES ({', '.join('?' * 14)})", rows)


class _LoopWriter:
    """Writes the loops of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, activity: CaptureActivity) -> None:
        self._connection = connection
        self._capture = capture
        self._calls = activity.calls
        self._kinds = activity.kinds
        self._waits = activity.waits
        self._loops = activity.loops
        works = (COMPILE_FUNCTIONS | LOAD_FUNCTIONS, {EXECUTE_FUNCTION}, TRANSFER_FUNCTIONS)
        self._works = [np.isin(self._calls.kind, self._kinds.find_kinds(functions)) for functions in works]

    def write(self) -> None:
        """Write the longest loops that take a significant part of their thread's time."""
        whole = {thread: self._compute_recorded_time(thread) for thread in {rounds.thread for rounds in self._loops}}
        kept = [rounds for rounds in self._loops if rounds.duration * _MIN_SHARE_DIVISOR >= whole[rounds.thread]]
        kept.sort(key=lambda rounds: (-rounds.duration, -len(rounds)))
        for number, rounds in enumerate(kept[:MAX_LOOPS], 1):
            self._write(number, rounds)

    def _compute_recorded_time(self, thread: int) -> int:
        """Return the time from a thread's first call to the end of its last, ns."""
        calls = self._calls
        rows = np.flatnonzero((self._kinds.thread[calls.kind] == thread) & (calls.end < FOREVER))
        return int(np.max(calls.end[rows]) - calls.start[rows[0]])

    def _write(self, number: int, rounds: LoopRounds) -> None:
        duration = rounds.end - rounds.start
        spent = np.stack([*self._compute_time_spent(rounds)])
        values = (*map(int, spent.sum(axis=1)),)
        self._connection.execute(
            f"INSERT INTO loops VALUES ({', '.join('?' * 12)})",
            (
                *(self._capture, number, rounds.thread, rounds.node, len(rounds), int(rounds.start[0])),
                *(rounds.duration, int(np.median(duration)), *values),
            ),
        )
        shown = select_peaks(duration, MAX_STEPS)
        columns = (shown + 1, rounds.start[shown], duration[shown], *spent[:, shown], rounds.call[shown])
        self._connection.executemany(
            f"INSERT INTO loop_steps VALUES ({', '.join('?' * 10)})",
            ((self._capture, number, *row) for row in zip(*(column.tolist() for column in columns), strict=True)),
        )

    def _compute_time_spent(self, rounds: LoopRounds) -> Iterator[Integers]:
        """Yield the time per iteration that its thread spent on compiling, dispatching, transfers and waits, in ns."""
        calls, waits = self._calls, self._waits
        is_own = self._kinds.thread[calls.kind] == rounds.thread
        is_outer = calls.find_rows(calls.parent) < 0
        of_waits = np.flatnonzero(self._kinds.thread[waits.kind] == rounds.thread)
        for of_work in self._works:
            rows = np.flatnonzero(of_work & is_own & is_outer & (calls.end < FOREVER))
            blocking = of_waits[np.isin(waits.call[of_waits], calls.id[rows])]
            yield _sum_by_round(rounds, calls.start[rows], calls.end[rows] - calls.start[rows]) - _sum_by_round(
                rounds, waits.start[blocking], waits.time_in_call[blocking]
            )
        yield _sum_by_round(rounds, waits.start[of_waits], waits.end[of_waits] - waits.start[of_waits])


def _sum_by_round(rounds: LoopRounds, start: Integers, length: Integers) -> Integers:
    """Return the sum of these lengths in each iteration, by their start."""
    position = np.searchsorted(rounds.start, start, side="right") - 1
    inside = np.flatnonzero((position >= 0) & (start < rounds.end[np.maximum(position, 0)]))
    return np.bincount(position[inside], length[inside], len(rounds)).astype(np.int64)


MIN_UNSEEN_WAIT_NS = 10_000_000
"""The minimum time without a call, in nanoseconds, that may be a wait."""

_MAX_RUNS = 1_000  # the maximum number of runs examined: the longest
# A thread notices the end of a program late, by at most this part of the program's duration plus this time. The
# thread's next call may come first.
_DELAY_DIVISOR = 20
_DELAY_NS = 20_000_000
_MAX_CALLS_BACK = 16  # the maximum number of the thread's calls examined in that time


@dataclass(frozen=True, slots=True)
class PossibleWaits:
    """The number and total duration (ns) of possible waits; `call` is the call before the longest one, or 0."""

    duration: int
    count: int
    call: int


def find_unseen_waits(activity: CaptureActivity) -> PossibleWaits:
    """Return the gaps between calls of a thread in which its program ended, and after which the thread soon continued.

    If the program had not ended when the recording ended, it is the time since the thread's last call. Recorded waits
    are left out.
    """
    calls, kinds, threads = activity.calls, activity.kinds, activity.threads
    is_run = (
        np.isin(calls.kind, kinds.find_kinds({EXECUTE_FUNCTION})) & (kinds.node[calls.kind] > 0) & (calls.end < FOREVER)
    )
    runs = calls[np.flatnonzero(is_run)]
    event = activity.events.find_last_events(runs.id)
    fired = np.append(activity.events.fired_at, -1)[event]
    is_exact = np.append(activity.events.is_exact, False)[event]
    fired = np.where((fired == FOREVER) & is_exact, threads.read_last_end(), fired)
    candidates = np.flatnonzero((fired < FOREVER) & (fired - runs.end >= MIN_UNSEEN_WAIT_NS))
    longest = candidates[np.argsort(runs.end[candidates] - fired[candidates], kind="stable")[:_MAX_RUNS]]
    thread, end = kinds.thread[runs.kind[longest]], fired[longest]
    tolerance = (end - runs.end[longest]) // _DELAY_DIVISOR + _DELAY_NS
    noticed_in = activity.events.noticed_in[event[longest]]
    before = threads.find_previous_calls(np.where(noticed_in > 0, noticed_in, threads.last + 1), thread)
    latest = end - np.where(is_exact[longest], 0, tolerance)
    for _ in range(_MAX_CALLS_BACK):
        is_behind = before.start > latest
        if not is_behind.any():
            break
        before = threads.find_previous_calls(np.where(is_behind, before.id, before.id + 1), thread)
    after = threads.find_next_calls(before)
    until = np.where(is_exact[longest] | (after.id == 0), end, after.start)
    gap = until - before.end
    has_program_ended = activity.events.fired_at[event[longest]] < FOREVER
    is_continued = np.where(after.id > 0, np.abs(after.start - end) <= tolerance, ~has_program_ended)
    is_unseen = (before.id > 0) & (gap >= MIN_UNSEEN_WAIT_NS) & is_continued
    is_unseen &= before.id >= runs.id[longest]
    is_unseen &= ~np.isin(before.id, activity.waits.call)
    of_call = dict(zip(before.id[is_unseen].tolist(), gap[is_unseen].tolist(), strict=True))
    call = max(of_call, key=lambda each: of_call[each], default=0)
    return PossibleWaits(sum(of_call.values()), len(of_call), call)
