"""The activity of a thread, by two snapshots of it."""

from __future__ import annotations

import pytest

from framedex.live.diagnosis import Verdict, diagnose
from framedex.live.model import Activity, LiveThread, ProcessSnapshot, ProcessState, Task
from framedex.live.waits import WaitKind, find_waits

MS = 1_000_000


def _snapshot(time_ns: int, activity: Activity, cpu_ns: int, until_ns: int | None = None) -> ProcessSnapshot:
    task = Task(7, "log", activity, cpu_ns, until_ns=until_ns)
    return ProcessSnapshot(1, "train.py", ProcessState.ALIVE, time_ns, None, (LiveThread(7, "log", task),))


@pytest.mark.parametrize(
    ("before", "until_ns", "cpu_ns", "kind"),
    [
        (Activity.SLEEP, None, MS, WaitKind.TIMED),
        (Activity.FUTEX, 80 * MS, MS, WaitKind.TIMED),
        (Activity.INPUT, None, MS, WaitKind.INPUT),  # a heartbeat
        (Activity.SLEEP, None, 50 * MS, WaitKind.RUNNING),
        (Activity.INPUT, None, 50 * MS, WaitKind.RUNNING),
        (Activity.FUTEX, None, MS, WaitKind.RUNNING),  # it was woken
        (Activity.RUNNING, None, MS, WaitKind.RUNNING),  # other threads use the processors
    ],
)
def test_a_thread_that_wakes_for_a_moment_does_not_compute(
    before: Activity, until_ns: int | None, cpu_ns: int, kind: WaitKind
) -> None:
    earlier = _snapshot(0, before, 0, until_ns)
    assert find_waits(earlier, _snapshot(100 * MS, Activity.RUNNING, cpu_ns))[7].kind is kind


@pytest.mark.parametrize(
    ("activity", "cpu_ns", "is_certain"),
    [
        (Activity.RUNNING, 0, False),  # it woke for a moment, or needs a processor
        (Activity.RUNNING, 50 * MS, True),
        (Activity.FUTEX, 0, True),
    ],
)
def test_a_thread_that_just_woke_needs_another_observation(activity: Activity, cpu_ns: int, is_certain: bool) -> None:
    diagnosis = diagnose(_snapshot(0, Activity.FUTEX, 0), _snapshot(100 * MS, activity, cpu_ns), 0)

    assert diagnosis.verdict is (Verdict.BUSY if activity is Activity.RUNNING else Verdict.HANG)
    assert diagnosis.is_certain == is_certain


def test_an_unrecorded_thread_that_ran_since_does_not_hang() -> None:
    diagnosis = diagnose(_snapshot(0, Activity.FUTEX, 0), _snapshot(100 * MS, Activity.FUTEX, MS), 0)

    assert diagnosis.verdict is Verdict.WAITING
