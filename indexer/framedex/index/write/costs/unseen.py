"""Possible waits of a thread that no call records, as in `jax.effects_barrier`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from framedex.index.write.costs.activity import Activity
from framedex.index.write.costs.pieces import FOREVER
from framedex.index.write.programs import RUNS

LEAST_UNSEEN = 10_000_000
"""The minimum time without a call, in nanoseconds, that may be a wait."""

_MOST_RUNS = 1_000  # the maximum number of runs examined: the longest
# The end of a program is noticed late by at most this part of its duration plus this time. The thread's next call may
# come first.
_LATE = 20
_LATE_NS = 20_000_000
_STEPS = 16  # the maximum number of the thread's calls examined in that time


@dataclass(frozen=True, slots=True)
class Unseen:
    """The number and total duration (ns) of possible waits; `call` is the call before the longest one, or 0."""

    duration: int
    times: int
    call: int


def unseen(activity: Activity) -> Unseen:
    """Return the times without calls on a thread that span the end of its program and end shortly after.

    Recorded waits are left out.
    """
    calls, kinds, threads = activity.calls, activity.kinds, activity.threads
    is_run = np.isin(calls.kind, kinds.of_functions({RUNS})) & (kinds.node[calls.kind] > 0) & (calls.end < FOREVER)
    runs = calls[np.flatnonzero(is_run)]
    event = activity.events.last_of(runs.id)
    fired = np.append(activity.events.fired, -1)[event]
    candidates = np.flatnonzero((fired < FOREVER) & (fired - runs.end >= LEAST_UNSEEN))
    longest = candidates[np.argsort(runs.end[candidates] - fired[candidates], kind="stable")[:_MOST_RUNS]]
    thread, end = kinds.thread[runs.kind[longest]], fired[longest]
    tolerance = (end - runs.end[longest]) // _LATE + _LATE_NS
    before = threads.before(activity.events.noticed_in[event[longest]], thread)
    for _ in range(_STEPS):
        is_behind = before.start > end - tolerance
        if not is_behind.any():
            break
        before = threads.before(np.where(is_behind, before.id, before.id + 1), thread)
    after = threads.after(before)
    gap = after.start - before.end
    is_unseen = (before.id > 0) & (after.id > 0) & (gap >= LEAST_UNSEEN) & (np.abs(after.start - end) <= tolerance)
    is_unseen &= before.id >= runs.id[longest]
    is_unseen &= ~np.isin(before.id, activity.waits.call)
    of_call = dict(zip(before.id[is_unseen].tolist(), gap[is_unseen].tolist(), strict=True))
    call = max(of_call, key=lambda each: of_call[each], default=0)
    return Unseen(sum(of_call.values()), len(of_call), call)
