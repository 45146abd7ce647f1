"""Queries over thousands of calls use their kinds: the answers equal those from checking every call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from framedex.base.progress import AdvanceCallback, SilentProgress
from framedex.index import Index, Store
from framedex.index.ask.call import filters, totals
from framedex.index.ask.capture.contents import read_boundary_totals, read_calls_of_boundary
from framedex.index.read.subjects import CaptureQuery
from framedex.model import CallFilter, CallRow
from tests.indexer.index.busy import busy_capture, record_of
from tests.indexer.recorded import build_project
from tests.oracle.whole_captures import add_whole

CALLS = 1_600
FILTERS = [
    CallFilter(),
    CallFilter(function="PJRT_Event_Destroy"),
    CallFilter(function="norm,PJRT_Event_Create", thread="102"),
    CallFilter(errors_only=True),
    CallFilter(slower_than=4_000),
    CallFilter(after=5_000_000, before=9_000_050),
    CallFilter(function="PJRT_Event_IsReady", after=5_000_000, slower_than=500),
    CallFilter(through="transfer"),
    CallFilter(through="allocate", errors_only=True),
    CallFilter(object="event#7"),
    CallFilter(object="event#7", function="Destroy"),
]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    project = build_project(tmp_path_factory.mktemp("project"), library)
    with Store(project.index) as store:
        add_whole(store, record_of(busy_capture(project, calls=CALLS)), 700)
        add_whole(store, record_of(busy_capture(project, "other", 900)), 700)
    return project.index


@pytest.fixture
def index(indexed: Path) -> Iterator[Index]:
    with Index.open(indexed) as index:
        yield index


def passing(index: Index, wanted: CallFilter) -> list[CallRow]:
    """The matching calls, found by checking each call."""
    stacks = {call.stack for call in index.calls.find(CallFilter(capture=1)) if _passes(index, call, wanted.through)}
    address = index.objects.find(wanted.object, 1) if wanted.object is not None else None
    return [
        call
        for call in index.calls.find(CallFilter(capture=1))
        if (wanted.function is None or any(part in call.function for part in wanted.function.split(",")))
        and (wanted.thread is None or str(call.tid) == wanted.thread)
        and (not wanted.errors_only or call.error > 0)
        and (wanted.slower_than is None or call.duration > wanted.slower_than or call.duration < 0)
        and (wanted.after is None or call.start >= wanted.after)
        and (wanted.before is None or call.start <= wanted.before)
        and call.stack in stacks
        and (
            address is None
            or (
                address.first_call <= call.id <= address.last_call
                and call.arguments.get("event") == f"{address.address:#x}"
            )
        )
    ]


def _passes(index: Index, call: CallRow, through: str | None) -> bool:
    chains = index.calls.call_chains_of_stack(call.stack)
    return through is None or any(through in frame.function.name for frames in chains for frame in frames)


@pytest.mark.exhaustive(keep=[repr(FILTERS[-1])])
@pytest.mark.parametrize("wanted", FILTERS, ids=repr)
def test_a_filter_accepts_the_same_calls_as_a_full_scan(index: Index, wanted: CallFilter) -> None:
    expected = passing(index, wanted)
    assert expected
    of_capture = replace(wanted, capture=1)

    assert index.calls.find(of_capture) == expected
    assert index.calls.find(of_capture, 7) == expected[-7:]
    assert list(index.calls.iterate(of_capture, 7)) == expected[-7:]
    assert index.calls.count(of_capture) == len(expected)
    found = index.calls.totals(of_capture)
    assert sum(each.calls for each in found) == len(expected)
    assert sum(each.total for each in found) == sum(max(call.duration, 0) for call in expected)
    assert sum(each.errors for each in found) == sum(call.error > 0 for call in expected)
    nested = {call.id: 0 for call in expected}
    for call in index.calls.find(CallFilter(capture=1)):
        if call.parent in nested:
            nested[call.parent] += max(call.duration, 0)
    own = sum(max(call.duration, 0) - nested[call.id] for call in expected)
    assert sum(each.self_time for each in found) == own


@pytest.mark.exhaustive(keep=[repr(FILTERS[0]), repr(FILTERS[7])])
@pytest.mark.parametrize("wanted", [*FILTERS, CallFilter(slower_than=50, through="transfer")], ids=repr)
def test_a_query_reports_progress_until_its_end(
    index: Index, monkeypatch: pytest.MonkeyPatch, wanted: CallFilter
) -> None:
    monkeypatch.setattr(filters, "_CALLS_PER_SLICE", 500)
    monkeypatch.setattr(totals, "_MAX_EXACT_CALLS", 100)
    silent = list(index.calls.iterate(wanted)), index.calls.count(wanted), index.calls.totals(wanted)
    every = index.calls.count(CallFilter())
    listener = _Listener()
    index.set_progress_listener(listener)

    told = list(index.calls.iterate(wanted)), index.calls.count(wanted), index.calls.totals(wanted)
    assert told == silent
    assert index.calls.find(wanted) == told[0]
    assert len(listener.tasks) == 4
    for task in listener.tasks:
        assert all(amount >= 0 and calls >= 0 for amount, calls in task.advances)
        assert sum(amount for amount, _ in task.advances) == task.total
        calls = sum(calls for _, calls in task.advances)
        assert calls <= every
        assert calls == task.total or task.total > calls > 0
    each, _, _, find = listener.tasks
    assert sum(calls for _, calls in each.advances) == each.total >= len(told[0])
    assert len(each.advances) > 1 or each.total < 500
    assert sum(calls for _, calls in find.advances) == each.total


@dataclass
class _Task:
    total: int
    advances: list[tuple[int, int]] = field(default_factory=list)


class _Listener(SilentProgress):
    """Records its messages."""

    def __init__(self) -> None:
        self.tasks: list[_Task] = []

    def task(self, description: str, total: int | None) -> AbstractContextManager[AdvanceCallback]:
        assert description == "Reading calls" and total is not None
        self.tasks.append(_Task(total))

        def advance(amount: int, /, calls: int = 0) -> None:
            self.tasks[-1].advances.append((amount, calls))

        return nullcontext(advance)


@pytest.mark.exhaustive(keep=["True"])
@pytest.mark.parametrize("by_thread", [False, True])
def test_percentiles_of_many_calls_are_within_one_percent(
    index: Index, monkeypatch: pytest.MonkeyPatch, by_thread: bool
) -> None:
    for wanted in (CallFilter(capture=1), CallFilter(capture=1, through="transfer"), CallFilter(slower_than=300)):
        exact = index.calls.totals(wanted, by_thread=by_thread)
        with monkeypatch.context() as context:
            context.setattr(totals, "_MAX_EXACT_CALLS", 100)
            kept = index.calls.totals(wanted, by_thread=by_thread)
        assert len(kept) == len(exact) > 3
        for one, other in zip(exact, kept, strict=True):
            for name in ("function", "thread", "calls", "errors", "never_returned", "total", "self_time", "mean"):
                assert getattr(one, name) == getattr(other, name)
            assert (one.longest, one.longest_call) == (other.longest, other.longest_call)
            for name in ("median", "p90", "p99"):
                assert abs(getattr(one, name) - getattr(other, name)) <= 0.008 * getattr(one, name) + 1


def test_pages_of_a_function_are_consecutive(index: Index) -> None:
    asked = CaptureQuery(index._reader, 1)
    for totals_of in read_boundary_totals(asked):
        every = [call for call in index.calls.find(CallFilter(capture=1)) if call.function == totals_of.function]
        assert totals_of.calls == len(every)
        pages = [
            read_calls_of_boundary(asked, totals_of.id, limit=200, offset=offset) for offset in range(0, CALLS, 200)
        ]
        assert [call.id for page in pages for call in page] == [call.id for call in every]
        longest = read_calls_of_boundary(asked, totals_of.id, longest_first=True, limit=20, offset=5)
        by_length = sorted(every, key=lambda call: (-call.duration, call.id))
        assert [call.id for call in longest] == [call.id for call in by_length[5:25]]


def test_an_address_means_the_object_that_lived_there_at_that_time(index: Index) -> None:
    calls = index.calls.with_object_names(index.calls.find(CallFilter(capture=1)))
    named = [call for call in calls if "event" in call.objects]
    assert len(named) > CALLS // 2
    for call in named[:: len(named) // 40]:
        found = index.objects.find(str(call.objects["event"]), 1)
        assert f"{found.address:#x}" == call.arguments["event"]
        time = call.start + (call.duration if call.function == "PJRT_Event_Create" else 0)
        (number,) = index._reader.rows(
            "SELECT number FROM objects WHERE capture = 1 AND address = ? AND born <= ? ORDER BY born DESC, id DESC",
            found.address,
            time,
        )[0]
        assert found.name == f"event#{number}"


def test_the_latest_calls_with_stacks_cover_all_kinds(index: Index) -> None:
    every = index.calls.find(CallFilter(capture=1))
    stacks = {every[0].stack, every[1].stack}
    expected = [call.id for call in reversed(every) if call.stack in stacks][:30]
    assert [call.id for call in index.calls.find_by_stacks(stacks, 30, 1)] == expected
