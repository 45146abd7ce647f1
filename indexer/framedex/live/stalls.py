"""Detect a stall: a process that has made no progress for a given time.

Progress is a call that begins or ends on the main thread, or on a thread that may end the main thread's wait
(`waits.find_supporting_threads`). So a thread that only logs does not hide a hang. If a worker thread trains, it is
not a hang. A process that computes, such as in a compilation, has ten times as long. So has a process that waits
while its child process computes. Time while it is stopped does not count.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.captures.open_calls import read_open_calls
from framedex.live.child_processes import explain_with_children
from framedex.live.diagnosis import Verdict, diagnose
from framedex.live.model import ProcessState
from framedex.live.snapshot import take_snapshot
from framedex.live.tasks import read_process_state

if TYPE_CHECKING:
    from framedex.live.diagnosis import Diagnosis
    from framedex.live.model import ProcessSnapshot
    from framedex.live.targets import Target

_NS_PER_S = 1_000_000_000
_BUSY_FACTOR = 10


class StallWatch:
    """Watches one process of this machine. Poll it several times in `patience_ns`, which is in nanoseconds."""

    def __init__(self, target: Target, patience_ns: int) -> None:
        self.target = target
        self.snapshot: ProcessSnapshot | None = None
        """The latest snapshot; None while the main thread makes calls."""
        self._patience_ns = patience_ns
        self._progress_ns = self._polled_ns = time.monotonic_ns()

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return read_process_state(self.target.pid) is ProcessState.ENDED

    def poll(self) -> Diagnosis | None:
        """Look at the process. Return why it stalls if it has made no progress for the patience, otherwise None."""
        now = time.monotonic_ns()
        was_interrupted = now - self._polled_ns > self._patience_ns  # the watching process was stopped, too
        self._polled_ns = now
        if was_interrupted or read_process_state(self.target.pid) is not ProcessState.ALIVE:
            self._progress_ns, self.snapshot = now, None
            return None
        self._progress_ns = max(self._progress_ns, self._last_call_of_main_thread())
        if now - self._progress_ns < self._patience_ns // 2:
            self.snapshot = None
            return None
        before, self.snapshot = self.snapshot, take_snapshot(self.target)
        return self._diagnose(before, self.snapshot) if before is not None else None

    def _last_call_of_main_thread(self) -> int:
        if self.target.capture is None:
            return 0
        try:
            threads = read_open_calls(self.target.capture)
        except FramedexError:  # the capture was removed
            return 0
        return max((each.last_record_ns or 0 for each in threads if each.thread_id == self.target.pid), default=0)

    def _diagnose(self, before: ProcessSnapshot, snapshot: ProcessSnapshot) -> Diagnosis | None:
        patience_s = self._patience_ns / _NS_PER_S
        found = explain_with_children(diagnose(before, snapshot, patience_s), snapshot, patience_s)
        self._progress_ns = max(self._progress_ns, found.last_record_ns or 0)
        patience_ns = self._patience_ns * (_BUSY_FACTOR if found.verdict is Verdict.BUSY else 1)
        return found if snapshot.time_ns - self._progress_ns >= patience_ns else None
