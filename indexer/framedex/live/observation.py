"""Observe processes twice, and diagnose each without its child processes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from framedex.live.diagnosis import Diagnosis, diagnose
from framedex.live.model import ProcessSnapshot
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import Target

_MAX_DOUBT_S = 0.3
_RETRY_S = 0.05


def observe(targets: Sequence[Target], between_s: float, patience_s: float) -> list[tuple[Diagnosis, ProcessSnapshot]]:
    """The diagnosis of each target, with its latest snapshot.

    If a diagnosis is not certain, the second observation is repeated for a moment: a waiting thread may wake and find
    nothing to do. `between_s` and `patience_s` are in seconds.
    """
    before = [take_snapshot(each) for each in targets]
    if any(snapshot.may_continue for snapshot in before):
        time.sleep(between_s)
    found = _diagnose_again(targets, before, patience_s)
    end = time.monotonic() + _MAX_DOUBT_S
    while not all(diagnosis.is_certain for diagnosis, _ in found) and time.monotonic() < end:
        time.sleep(_RETRY_S)
        found = _diagnose_again(targets, before, patience_s)
    return found


def _diagnose_again(
    targets: Sequence[Target], before: Sequence[ProcessSnapshot], patience_s: float
) -> list[tuple[Diagnosis, ProcessSnapshot]]:
    after = [take_snapshot(each) for each in targets]
    return [(diagnose(*each, patience_s), each[1]) for each in zip(before, after, strict=True)]
