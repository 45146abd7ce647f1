"""Captures written in batches: the batch size does not change the index, and interrupted writing continues."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framedex.index import Store
from framedex.index.write import aggregates
from framedex.index.write.capture import CaptureTakenError
from framedex.index.write.tree import read_nodes
from framedex.model import CallBatch, CallKind, Calls, Function, KindTotals, ObjectColumns, Thread
from tests.indexer.index.busy import busy_capture, record_of, rows_of
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_whole, capture_batches

CALLS = 1_500
# The sample arguments of a kind are those of its first batch.
SAMPLES = ("stack_samples", "line_samples")


def written(project: Project, index: Path, calls_at_once: int) -> dict[str, list[tuple[object, ...]]]:
    with Store(index) as store:
        assert add_whole(store, record_of(busy_capture(project, calls=CALLS)), calls_at_once)
        return rows_of(store, without=SAMPLES)


@pytest.mark.exhaustive(keep=["777"])
@pytest.mark.parametrize("calls_at_once", [1_000, 777, 256, 61])
def test_batches_of_any_size_write_the_same_index(project: Project, tmp_path: Path, calls_at_once: int) -> None:
    whole = written(project, tmp_path / "whole.db", CALLS)

    assert written(project, tmp_path / "parts.db", calls_at_once) == whole

    assert len(whole["call_rows"]) == CALLS
    assert len(whole["object_rows"]) > 100
    assert len(whole["ffi_runs"]) > 100
    assert {row[3] for row in whole["stacks"]} > {0}, "runs that are surely of the site lead there"


def test_totals_summed_in_parts_equal_those_summed_at_once(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they are rebuilt, when the stacks of several runs are summed together."""

    def totals(index: Path) -> list[dict[str, list[tuple[object, ...]]]]:
        with Store(index) as store:
            for name in ("first", "second"):
                assert add_whole(store, record_of(busy_capture(project, name, CALLS)), CALLS)
            written = rows_of(store)
            aggregates.rebuild_totals(store._connection, read_nodes(store._connection))
            return [written, rows_of(store)]

    at_once = totals(tmp_path / "at-once.db")
    monkeypatch.setattr(aggregates, "_ITEMS_AT_ONCE", 3)

    assert totals(tmp_path / "parts.db") == at_once
    assert len(at_once[0]["stack_calls"]) > 10


def test_totals_of_kinds_equal_the_sums_of_their_calls(project: Project, tmp_path: Path) -> None:
    with Store(tmp_path / "index.db") as store:
        add_whole(store, record_of(busy_capture(project, calls=CALLS)), 500)
        connection = store._connection
        counted = connection.execute(
            "SELECT c.kind, count(*), sum(max(c.duration, 0)), sum(max(c.duration, 0)) - (SELECT"
            " coalesce(sum(max(n.duration, 0)), 0) FROM call_rows n JOIN call_rows o ON o.id = n.id - n.inside"
            " WHERE o.kind = c.kind), max(max(c.duration, 0)), min(c.id), max(c.id) FROM call_rows c GROUP BY c.kind"
        ).fetchall()
        kept = connection.execute(
            "SELECT id, calls, duration, own_duration, longest, first_call, latest_call FROM call_kinds"
        ).fetchall()
        assert sorted(kept) == sorted(counted)
        wrong = (
            "SELECT count(*) FROM call_kinds k JOIN call_rows c ON c.id = k.longest_call WHERE c.duration <> k.longest"
        )
        assert connection.execute(f"{wrong} AND k.error >= 0").fetchone() == (0,)


def test_an_interrupted_capture_continues_after_its_last_commit(project: Project, tmp_path: Path) -> None:
    """A capture read again after an interruption at any batch gives the same index."""
    whole = written(project, tmp_path / "whole.db", CALLS)
    record = record_of(busy_capture(project, calls=CALLS))
    for ended_after in (1, 2):
        index = tmp_path / f"{ended_after}.db"
        with Store(index) as store:
            writer = store.begin_capture(record, CALLS)
            assert writer is not None
            for batch, _ in zip(capture_batches(record.capture, 500), range(ended_after), strict=False):
                writer.add(batch)
        with Store(index) as store:
            assert store._connection.execute("SELECT sum(calls) FROM call_kinds").fetchone() == (500 * ended_after,)
            assert store._connection.execute("SELECT sum(calls) FROM stack_calls").fetchone() == (500 * ended_after,)
            again = store.begin_capture(record, CALLS)
            assert again is not None
            assert again.rows == 500 * ended_after
            for batch in capture_batches(record.capture, 500):
                again.add(batch)
            again.finish()
            assert store.begin_capture(record, CALLS) is None, "all of it is there"
            assert rows_of(store, without=SAMPLES) == whole


def test_captures_written_alternately_do_not_affect_each_other(project: Project, tmp_path: Path) -> None:
    first, second = (record_of(busy_capture(project, name, CALLS)) for name in ("first", "second"))
    index = tmp_path / "index.db"
    with Store(index) as store, Store(index) as other:
        writer = store.begin_capture(first, CALLS)
        assert writer is not None
        for place, batch in enumerate(capture_batches(first.capture, 500)):
            writer.add(batch)
            if place == 1:
                add_whole(other, second, 700)
        writer.finish()
        calls = (
            "SELECT boundary, start, duration, error, c.id - parent, json"
            " FROM calls c JOIN arguments a ON a.id = c.arguments WHERE c.capture"
        )
        objects = "SELECT type, number, address, born, uses, size FROM objects WHERE capture"
        one, two = (
            [
                store._connection.execute(f"{query} = ? ORDER BY 1, 2, 3", (capture,)).fetchall()
                for query in (calls, objects)
            ]
            for capture in (1, 2)
        )
        assert one == two
        ranges = store._connection.execute("SELECT count(*) FROM object_ranges WHERE capture = 1").fetchone()
        assert ranges == (2,)
        ids = "SELECT min(id), max(id), count(*) FROM calls WHERE capture = ?"
        for capture in (1, 2):
            low, high, count = store._connection.execute(ids, (capture,)).fetchone()
            assert high - low + 1 == count == CALLS


def test_a_capture_being_written_by_another_process_is_refused(project: Project, tmp_path: Path) -> None:
    record = record_of(busy_capture(project, calls=CALLS))
    index = tmp_path / "index.db"
    with Store(index) as store, Store(index) as other:
        writer = store.begin_capture(record, CALLS)
        assert writer is not None
        batches = list(capture_batches(record.capture, 500))
        writer.add(batches[0])
        theirs = other.begin_capture(record, CALLS)
        assert theirs is not None
        for batch in batches[:2]:
            theirs.add(batch)
        with pytest.raises(CaptureTakenError):
            writer.add(batches[1])
        for batch in batches[2:]:
            theirs.add(batch)
        theirs.finish()
        assert other._connection.execute("SELECT count(*) FROM call_rows").fetchone() == (CALLS,)


def test_a_grown_capture_replaces_its_older_state_only(project: Project, tmp_path: Path) -> None:
    shorter = busy_capture(project, "grown", calls=900)
    longer = record_of(busy_capture(project, "grown", CALLS), "grown")
    other = replace(record_of(busy_capture(project, "other", calls=600)), started=2.0)
    with Store(tmp_path / "index.db") as store:
        for record in (record_of(shorter), other, longer):
            add_whole(store, record, 500)
        grown = rows_of(store, without=("captures",))
    with Store(tmp_path / "fresh.db") as store:
        for record in (other, longer):
            add_whole(store, record, 500)
        fresh = rows_of(store, without=("captures",))
    for table in ("steps", "code_edges", "readable_steps"):
        assert grown[table] == fresh[table], table
    for table, latest in (("stack_calls", 4), ("line_calls", 6)):  # ids follow the order of the captures
        of_table = (sorted((*row[1:latest], *row[latest + 1 :]) for row in rows[table]) for rows in (grown, fresh))
        assert next(of_table) == next(of_table), table
    assert len(grown["call_rows"]) == CALLS + 600
    assert {len(grown[table]) - len(fresh[table]) for table in ("call_kinds", "call_spans", "object_rows")} == {0}


def test_a_call_that_returns_later_moves_to_another_kind(project: Project, tmp_path: Path) -> None:
    capture = busy_capture(project, calls=CALLS)
    calls = capture.calls
    place = CALLS // 3
    duration, error = calls.duration.copy(), calls.error.copy()
    duration[place], error[place] = 4_321, 0
    whole = replace(capture, calls=replace(calls, duration=duration, error=error))
    with Store(tmp_path / "index.db") as store:
        writer = store.begin_capture(record_of(capture), CALLS)
        assert writer is not None
        known = 0
        for batch in capture_batches(capture, 500):
            writer.add(batch)
            known += len(batch.kinds)
        kind = CallKind(int(calls.function[place]), int(calls.thread[place]), int(calls.stack[place]), 0)
        writer.add(returned(batch, kind, known, place, 4_321))
        writer.finish()
        kinds = "SELECT boundary, thread, error, calls, duration, longest, first_call, latest_call FROM call_kinds"
        found = sorted(store._connection.execute(kinds))
        durations = sorted(store._connection.execute("SELECT * FROM call_durations"))
        spans = store._connection.execute(
            "SELECT count(*) FROM call_rows c WHERE NOT EXISTS (SELECT 1 FROM call_spans s"
            " WHERE s.kind = c.kind AND c.id BETWEEN s.first_call AND s.last_call)"
        ).fetchone()
    with Store(tmp_path / "whole.db") as store:
        add_whole(store, record_of(whole))
        assert sorted(store._connection.execute(kinds)) == found
        assert sorted(store._connection.execute("SELECT * FROM call_durations")) == durations
    assert spans == (0,)


def test_copies_with_an_implausible_size_have_no_size(project: Project, tmp_path: Path) -> None:
    """Sums of such sizes would no longer be integers."""
    made = json.dumps({"client": "0x1", "bytes": (1 << 63) - 1, "buffer": "0x1000"})
    copied = [json.dumps({"buffer": "0x1000", "dst_device": "0x2", "dst_buffer": f"0x{place}000"}) for place in (2, 3)]
    capture = replace(
        project.capture,
        functions=(
            Function("pjrt", "PJRT_Client_BufferFromHostBuffer"),
            Function("pjrt", "PJRT_Buffer_CopyToDevice"),
        ),
        threads=(Thread(100, "MainThread"),),
        calls=Calls(
            thread=np.zeros(3, np.uint32),
            function=np.array([0, 1, 1], np.uint32),
            stack=np.zeros(3, np.uint32),
            start=np.arange(3) * 100,
            duration=np.full(3, 10),
            error=np.zeros(3, np.int32),
            arguments=(made, *copied),
        ),
    )
    with Store(tmp_path / "index.db") as store:
        add_whole(store, record_of(capture))
        query = "SELECT calls, sized, bytes FROM transfers WHERE direction = 'device to device'"
        assert store._connection.execute(query).fetchall() == [(2, 0, 0)]
        assert store._connection.execute("SELECT max(size) FROM objects").fetchone() == ((1 << 63) - 1,)


def returned(last: CallBatch, kind: CallKind, known: int, row: int, duration: int) -> CallBatch:
    """A batch without calls after the last one, which reports the return of an earlier batch's call."""
    none = np.zeros(0, np.int64)
    return CallBatch(
        first=last.first + len(last),
        kinds=(kind,),
        arguments=(),
        kind=none,
        inside=none,
        start=none,
        duration=none,
        argument=none,
        totals=KindTotals(*[none] * 8),
        samples=none,
        spans=none,
        durations=none,
        changed=np.array([(row, known, duration, 0)], np.int64),
        types=(),
        objects=ObjectColumns(*[none] * 14),
        numbers=np.zeros((0, 2), np.int64),
        violations=none,
        chains=(),
        links=none,
    )
