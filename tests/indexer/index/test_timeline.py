"""The timeline of a capture: runtime time of its threads, by slice, for all or some calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framedex.index import Index, Store
from framedex.index.ask.capture import timeline
from framedex.model import CallActivity, CallFilter, Function, Timeline
from tests.indexer.index.busy import busy_capture, record_of
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_whole

MS = 1_000_000


@pytest.fixture
def busy(project: Project, tmp_path: Path) -> Iterator[Index]:
    with Store(tmp_path / "index.db") as store:
        add_whole(store, record_of(busy_capture(project)), 700)
    with Index.open(tmp_path / "index.db") as index:
        yield index


def spans(found: Timeline, thread: int, activity: CallActivity) -> list[tuple[int, int, float]]:
    """The ms ranges of an activity on a thread, and its share in each."""
    width = (found.end - found.start) / timeline.SLICES
    shares = found.threads[thread].shares[activity]
    told: list[tuple[int, int, float]] = []
    for number, share in enumerate(shares):
        begin, end = round((found.start + number * width) / MS), round((found.start + (number + 1) * width) / MS)
        if share and told and told[-1][1:] == (begin, share):
            told[-1] = (told[-1][0], end, share)
        elif share:
            told.append((begin, end, share))
    return told


def test_calls_are_drawn_at_their_time_by_category(project: Project) -> None:
    """A compilation, a run, an unreturned transfer and a nested call each have their own time."""
    capture = project.capture
    names = ("PJRT_Client_Compile", "PJRT_LoadedExecutable_Execute", "PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_Memory")
    calls = replace(
        capture.calls,
        thread=np.array([0, 0, 0, 1], np.uint32),
        function=np.array([0, 3, 1, 2], np.uint32),
        start=np.array([0, 10 * MS, 300 * MS, 400 * MS], np.int64),
        duration=np.array([200 * MS, 50 * MS, 300 * MS, -1], np.int64),
        error=np.array([0, 0, 0, -1], np.int32),
    )
    functions = tuple(Function("pjrt", name) for name in names)
    found = project.ingest(capture=project.again("timed", calls=calls, functions=functions)).capture(1).timeline()

    assert (found.start, found.end, found.is_sampled) == (0, 600 * MS, False)
    assert spans(found, 0, CallActivity.COMPILE) == [(0, 200, 1.0)]
    assert spans(found, 0, CallActivity.RUN) == [(300, 600, 1.0)]
    assert spans(found, 0, CallActivity.OTHER) == []
    assert spans(found, 1, CallActivity.TRANSFER) == [(400, 600, 1.0)]
    assert [thread.busy for thread in found.threads] == [500 * MS, 200 * MS]


def test_every_call_counts_once(busy: Index) -> None:
    found = busy.capture(1).timeline()
    outermost = [call for call in busy.calls.find(CallFilter(capture=1)) if call.parent is None]
    threads = {call.thread for call in outermost}
    expected = {
        thread: sum(call.duration for call in outermost if call.thread == thread and call.duration >= 0)
        for thread in threads
    }
    unreturned = {call.thread for call in outermost if call.duration < 0}
    assert {thread.thread for thread in found.threads} == threads
    assert all(thread.busy == expected[thread.thread] for thread in found.threads if thread.thread not in unreturned)


def test_some_calls_represent_their_neighbours(busy: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more calls than are read, totals are approximate, and the longest call is exact."""
    whole = busy.capture(1).timeline()
    monkeypatch.setattr(timeline, "_MAX_CALLS_READ", 0)
    monkeypatch.setattr(timeline, "_MAX_LONGEST_CALLS", 500)
    monkeypatch.setattr(timeline, "_SAMPLES_PER_SLICE", 5)
    some = busy.capture(1).timeline()

    assert some.is_sampled and not whole.is_sampled
    assert (some.start, some.end) == pytest.approx((whole.start, whole.end), rel=0.01)
    of_whole = {thread.thread: thread.busy for thread in whole.threads}
    assert {thread.thread: thread.busy for thread in some.threads} == pytest.approx(of_whole, rel=0.1)


def test_a_capture_without_calls_has_no_threads(busy: Index) -> None:
    assert busy.capture(99).timeline() == Timeline(0, 0, (), is_sampled=False)
