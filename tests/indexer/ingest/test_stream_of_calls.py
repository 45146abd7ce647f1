"""Captures are indexed as a stream of calls, with the same rows as the oracle's for a whole capture.

The rows do not depend on how the stream is split, interrupted, or followed while its program runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import pytest

from framedex.captures import CaptureStream, capture_folders, read_capture
from framedex.index import Store
from framedex.index.write.capture import CaptureTakenError
from framedex.ingest import CaptureFrameNamer, captures, follow
from framedex.ingest.captures import CaptureReading
from framedex.ingest.follow import Follower
from framedex.model import StopReason
from framedex_native import _native
from tests.indexer.index.busy import rows_of
from tests.indexer.ingest.compiling import recorded_compiling
from tests.one_put import recorded_put
from tests.oracle.whole_captures import add_capture
from tests.running import PROGRAMS, mock_environment, run

PROGRAMS_OF_ALL_KINDS = ["arrays.py", "compiling.py", "misuse.py", "threads.py"]
# The sample arguments of a stack, and columns that change with every write.
LEFT_OUT = ("stack_samples", "line_samples", "captures")
Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module", params=PROGRAMS_OF_ALL_KINDS)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "compiling.py":
        return recorded_compiling().capture
    return run(request.param, folder=tmp_path_factory.mktemp(Path(request.param).stem)).capture


@pytest.fixture(scope="module")
def namer() -> CaptureFrameNamer:
    """A namer that reads each binary once for all tests."""
    return CaptureFrameNamer()


class OnRequest:
    """Record `on_request.py` into `folder`."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "on_request.py")],
            cwd=folder,
            env=mock_environment(folder) | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> OnRequest:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(is_killed=True)

    def send_command(self, line: str) -> str:
        """Send a command line to the program; return its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def end(self, *, is_killed: bool = False) -> None:
        """End the program, or kill it."""
        if is_killed:
            self._process.kill()
        self._process.communicate()


def index_capture(store: Store, capture: Path, namer: CaptureFrameNamer) -> None:
    reading = CaptureReading(store, CaptureStream(capture), namer)
    while not reading.is_done:
        reading.add_batch()


@pytest.fixture(scope="module")
def expected(capture: Path, namer: CaptureFrameNamer, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The oracle's rows for the whole capture."""
    with Store(tmp_path_factory.mktemp("expected") / "index.db") as store:
        add_capture(store, read_capture(capture), namer)
        return rows_of(store, without=LEFT_OUT)


@pytest.fixture
def batch_size(capture: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set a batch size at which each capture takes several batches, but at most a few hundred."""
    calls = max(10, CaptureStream(capture).calls // 20)
    monkeypatch.setattr(captures, "BATCH_CALLS", calls)
    return calls


def assert_expected_rows(found: Rows, expected: Rows) -> None:
    """Check the rows of every table."""
    assert found.keys() == expected.keys()
    for table, rows in expected.items():
        assert comparable(table, found[table]) == comparable(table, rows), table


def comparable(table: str, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows without ids that depend only on the order of writing."""
    return sorted((row[1:] for row in rows), key=repr) if table == "violations" else rows


@pytest.mark.exhaustive(keep=["compiling.py-100"])
@pytest.mark.parametrize("calls", [1 << 18, 256, 100])
def test_a_stream_has_the_same_rows_as_the_oracle(
    capture: Path, expected: Rows, namer: CaptureFrameNamer, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "BATCH_CALLS", calls)
    with Store(tmp_path / "index.db") as store:
        index_capture(store, capture, namer)
        assert_expected_rows(rows_of(store, without=LEFT_OUT), expected)


@pytest.mark.exhaustive(keep=["compiling.py"])
def test_an_interrupted_capture_resumes(
    capture: Path, expected: Rows, namer: CaptureFrameNamer, batch_size: int, tmp_path: Path
) -> None:
    index = tmp_path / "index.db"
    with Store(index) as store:
        reading = CaptureReading(store, CaptureStream(capture), namer, "as it is")
        for _ in range(3):
            reading.add_batch()
        read = store._connection.execute("SELECT count(*), max(id) FROM call_rows").fetchone()
        assert read == (3 * batch_size, 3 * batch_size)
    written = []
    with Store(index) as store:
        store._connection.set_trace_callback(
            lambda statement: written.append(statement) if statement.startswith("INSERT INTO call_rows") else None
        )
        reading = CaptureReading(store, CaptureStream(capture), namer, "as it is")
        while not reading.is_done:
            reading.add_batch()
        found = rows_of(store, without=LEFT_OUT)
        calls = store._connection.execute("SELECT calls FROM captures").fetchone()[0]

    assert len(written) == -(-(calls - 3 * batch_size) // batch_size), "the calls that are there are not written again"
    assert_expected_rows(found, expected)


def test_a_capture_truncated_while_being_read_ends(
    namer: CaptureFrameNamer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "BATCH_CALLS", 200)
    capture = run("many_puts.py", "500", folder=tmp_path).capture
    calls = CaptureStream(capture).calls
    with Store(tmp_path / "index.db") as store:
        reading = CaptureReading(store, CaptureStream(capture), namer)
        reading.add_batch()
        os.truncate(capture / "thread-0.fdx", 1 << 18)
        while not reading.is_done:
            reading.add_batch()

        assert 200 < reading.report().calls < calls
        assert any("cut short by" in problem for problem in reading.report().problems)
        assert totals_kept(store) == totals_counted(store)


@pytest.mark.exhaustive(keep=["compiling.py"])
@pytest.mark.usefixtures("batch_size")
def test_the_second_reader_of_a_capture_continues(
    capture: Path, expected: Rows, namer: CaptureFrameNamer, tmp_path: Path
) -> None:
    index = tmp_path / "index.db"
    with Store(index) as first, Store(index) as second:
        one = CaptureReading(first, CaptureStream(capture), namer, "as it is")
        one.add_batch()
        other = CaptureReading(second, CaptureStream(capture), namer, "as it is")
        other.add_batch()  # the current contents
        other.add_batch()
        with pytest.raises(CaptureTakenError):
            one.add_batch()
        while not other.is_done:
            other.add_batch()
        found = rows_of(second, without=LEFT_OUT)
    assert_expected_rows(found, expected)


@pytest.mark.exhaustive(keep=["False"])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_followed_capture_equals_a_capture_read_at_its_end(
    tmp_path: Path, namer: CaptureFrameNamer, is_killed: bool
) -> None:
    """Times near the end may differ by some nanoseconds, because the clock was calibrated later."""
    with OnRequest(tmp_path) as program, Store(tmp_path / "index.db") as store:
        follower = Follower(store, lambda: None)
        capture, new = None, []
        for line, answer in [("put", "done"), ("put", "done"), ("wait", "waiting"), ("", "done"), ("put", "done")]:
            assert program.send_command(line) == answer
            (capture,) = capture_folders(tmp_path / "captures")
            new.append(follower.update([capture]))
        assert capture is not None and new[0] > 0
        if is_killed:
            program.send_command("wait")
            follower.update([capture])
        program.end(is_killed=is_killed)
        follower.update([capture])
        assert not follower.paths
        found = calls_of(store)
        (state,) = store._connection.execute("SELECT calls, signature <> '', reading FROM captures").fetchall()
    with Store(tmp_path / "expected.db") as store:
        add_capture(store, read_capture(capture), namer)
        expected = calls_of(store)

    assert state == (len(expected["calls"]), 1, None)
    for table, rows in expected.items():
        assert found[table] == rows, table


@pytest.mark.exhaustive
def test_captures_that_are_followed_side_by_side_have_the_totals_of_their_calls(tmp_path: Path) -> None:
    """Includes a program that makes no calls for a long time before it ends."""
    with ExitStack() as stack, Store(tmp_path / "index.db") as store:
        programs = [stack.enter_context(OnRequest(tmp_path)) for _ in range(2)]
        follower = Follower(store, lambda: None)
        for _ in range(3):
            for program in programs:
                assert program.send_command("put") == "done"
            follower.update(capture_folders(tmp_path / "captures"))
            assert totals_kept(store) == totals_counted(store)
        for program in programs:
            program.end()
        follower.update(capture_folders(tmp_path / "captures"))

        assert not follower.paths
        assert totals_kept(store) == totals_counted(store)
        own = "SELECT sum(own_duration) FROM call_kinds"
        outermost = "SELECT sum(duration) FROM call_rows WHERE inside IS NULL"
        assert store._connection.execute(own).fetchall() == store._connection.execute(outermost).fetchall()


@pytest.mark.exhaustive
def test_calls_of_a_new_thread_come_with_the_next_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        OnRequest(tmp_path) as program,
        Store(tmp_path / "index.db") as store,
    ):
        follower = Follower(store, lambda: None)
        for line in ("wait", ""):  # which makes calls on its own threads
            program.send_command(line)
        (capture,) = capture_folders(tmp_path / "captures")
        with monkeypatch.context() as patch:
            patch.setattr(follow, "_RECORD_DELAY_NS", 1 << 60)
            assert follower.update([capture]) == 0
        program.send_command("put")
        program.end()

        new = follower.update([capture])

    assert new == len(read_capture(capture).calls)


@pytest.mark.exhaustive
def test_the_stop_reason_of_a_followed_capture_is_reported_without_new_calls(tmp_path: Path) -> None:
    with (
        OnRequest(tmp_path, FRAMEDEX_LIMIT=str(_native.SEGMENT_SIZE)) as program,
        Store(tmp_path / "index.db") as store,
    ):
        follower = Follower(store, lambda: None)
        for _ in range(20):
            program.send_command("put")
        (capture,) = capture_folders(tmp_path / "captures")
        follower.update([capture])
        for _ in range(60):
            program.send_command("put")
        program.end()
        follower.update([capture])
        ((stops,),) = store._connection.execute("SELECT stops FROM captures").fetchall()

    assert json.loads(stops) == json.loads(json.dumps(asdict(read_capture(capture).stops)))
    assert StopReason.LIMIT in read_capture(capture).stops.reasons


def test_a_deleted_capture_does_not_block_other_followed_ones(tmp_path: Path) -> None:
    """Includes a program that has ended before the first update."""
    gone, there = tmp_path / "gone", recorded_put()
    with Store(tmp_path / "index.db") as store:
        follower = Follower(store, lambda: None)

        new = follower.update([gone, there])

        assert list(follower.refused) == [gone]
        assert new == len(read_capture(there).calls)
        assert follower.update([gone, there]) == 0
        with Store(tmp_path / "index.db") as other:
            assert Follower(other, lambda: None).update([there]) == 0, "it is there"


@pytest.mark.exhaustive
def test_the_second_follower_of_a_capture_waits(tmp_path: Path) -> None:
    with (
        OnRequest(tmp_path) as program,
        Store(tmp_path / "index.db") as store,
        Store(tmp_path / "index.db") as other,
    ):
        program.send_command("put")
        captures = capture_folders(tmp_path / "captures")
        first, second = Follower(store, lambda: None), Follower(other, lambda: None)
        first.update(captures)
        second.update(captures)
        assert first.paths and not second.paths
        program.end()
        first.update(captures)

        assert not first.paths
        assert second.update(captures) == 0
        assert first.calls == len(read_capture(captures[0]).calls)


def totals_kept(store: Store) -> list[tuple[object, ...]]:
    return store._connection.execute("SELECT stack, boundary, calls, duration FROM stack_calls").fetchall()


def totals_counted(store: Store) -> list[tuple[object, ...]]:
    return store._connection.execute(
        "SELECT k.stack, k.boundary, count(*), sum(max(c.duration, 0)) FROM call_rows c JOIN call_kinds k"
        " ON k.id = c.kind GROUP BY k.stack, k.boundary"
    ).fetchall()


def calls_of(store: Store) -> Rows:
    """The calls and objects of an index, without data that depends on clocks or on the order of stacks."""
    ask = store._connection.execute
    stacks: dict[int, list[tuple[object, ...]]] = {}
    for stack, *frame in ask("SELECT stack, chain, depth, function, path, line FROM stacks_readable"):
        stacks.setdefault(stack, []).append(tuple(frame))
    named = {stack: tuple(sorted(frames, key=repr)) for stack, frames in stacks.items()}
    calls = ask(
        "SELECT c.stack, c.id, b.name, t.label, c.parent, c.duration < 0, c.error, a.json FROM calls c"
        " JOIN boundaries b ON b.id = c.boundary JOIN threads t ON t.id = c.thread"
        " JOIN arguments a ON a.id = c.arguments ORDER BY c.id"
    )
    kinds = ask(
        "SELECT stack, boundary, thread, error, calls, own_duration = duration, first_call, latest_call FROM call_kinds"
    )
    objects = (
        "SELECT type, number, address, created_call, first_call, last_call, deleted_call, destroyed_call, uses, size"
    )
    return {
        "calls": [(named[stack], *call) for stack, *call in calls],
        "kinds": sorted(((named[stack], *kind) for stack, *kind in kinds), key=repr),
        "objects": sorted(ask(f"{objects} FROM objects"), key=repr),
        "links": sorted(ask("SELECT call, function, thread, how, from_function, line FROM links_readable"), key=repr),
        "totals": sorted(ask("SELECT path, line, function, calls FROM lines_readable"), key=repr),
        "spans": sorted(ask("SELECT first_call, last_call FROM call_spans")),
    }
